/*
 * MemoryHub as a context engine of OpenClaw. Six of its methods tell the hub of a moment of the session; the
 * messages, their order and their compaction stay the host's. Nothing of a transcript is sent, but for the
 * last words of a sub-agent, which are its results.
 *
 * The hub's address and the token come from the environment alone (MEMORYHUB_URL, MEMORYHUB_TOKEN): what
 * stands in a workspace can't send the token elsewhere. Whatever goes wrong, a session goes on without it.
 */

import { createHash } from "node:crypto";
import { readFile, realpath, stat } from "node:fs/promises";
import path from "node:path";

const ID = "memoryhub";
const SECONDS = 4;
const ANSWER_MAX_SIZE = 1024 * 1024;
const STATE_MAX_SIZE = 256 * 1024;
const RESULTS_MAX_LENGTH = 20000;
const NAME_MAX_LENGTH = 80;
// Of sessions and of children: the oldest are forgotten first.
const KEPT = 500;
// What is refused for what it says.
const FINAL = [400, 409, 412, 413, 415, 422, 428];

/** Where the hub is and which project is meant: from the environment, then from the plugin's settings. */
function placeOf(config, env) {
  const url = (env.MEMORYHUB_URL ?? "").trim().replace(/\/+$/, "");
  const named = /^(https?:\/\/.+?)(?:\/mcp(?:\/p\/([\w-]+))?)?$/.exec(url);
  return {
    url: named?.[1] ?? "",
    token: env.MEMORYHUB_TOKEN ?? "",
    project: env.MEMORYHUB_PROJECT || named?.[2] || config.project || "",
    stream: env.MEMORYHUB_STREAM || config.stream || "main",
  };
}

/** A name that the hub takes: what is longer ends in a digest. */
function short(name) {
  const text = String(name || "openclaw");
  if (text.length <= NAME_MAX_LENGTH) return text;
  const digest = createHash("sha256").update(text).digest("hex").slice(0, 16);
  return `${text.slice(0, NAME_MAX_LENGTH - 17)}-${digest}`;
}

/** At most so many bytes of an answer; null for more. */
async function bounded(response) {
  const parts = [];
  let size = 0;
  for await (const part of response.body ?? []) {
    size += part.length;
    if (size > ANSWER_MAX_SIZE) return null;
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf-8");
}

/** Remembers the newest of what it is told. */
class Recent extends Map {
  set(key, value) {
    this.delete(key);
    super.set(key, value);
    if (this.size > KEPT) this.delete(this.keys().next().value);
    return this;
  }
}

/** The text of the last message of the agent; empty where there is none. */
function lastWords(messages) {
  const said = (Array.isArray(messages) ? messages : []).findLast((one) => one?.role === "assistant");
  if (typeof said?.content === "string") return said.content;
  const parts = Array.isArray(said?.content) ? said.content : [];
  return parts
    .filter((part) => part?.type === "text" && typeof part.text === "string")
    .map((part) => part.text)
    .join("\n");
}

/** Tokens, roughly: the host measures for itself what it sends. */
function estimated(messages, addition) {
  return Math.ceil((JSON.stringify(messages ?? []).length + addition.length) / 4);
}

export class MemoryHubEngine {
  info = {
    id: ID,
    name: "MemoryHub",
    version: "1.0.0",
    ownsCompaction: false,
    acceptedHostParams: ["sessionKey"],
    // Without both, newer hosts leave an engine out of turns that they keep.
    transcriptSemantics: {
      currentTurnFence: "before-current-turn-entry-v1",
      turnAdvancementIdempotency: "atomic-idempotent-v1",
    },
  };

  constructor({ config = {}, workspaceDir = "", logger = null, env = process.env } = {}) {
    this.config = config ?? {};
    this.place = placeOf(this.config, env);
    this.workspace = workspaceDir;
    this.logger = logger;
    // By session: its id by its key, the version that it read last, what it sent of the file last.
    this.ids = new Recent();
    this.versions = new Recent();
    this.sent = new Recent();
    // By child: whose it is, the seed that it begins with, its last words.
    this.children = new Recent();
    this.turns = new Recent();
  }

  /** One moment. `answer` is the hub's, or null; `refused`: the same again would be refused again. No errors. */
  async tell(moment, session, body = {}) {
    const { url, token, project, stream } = this.place;
    if (!url || !token || !project) return { answer: null, refused: false };
    const address = `${url}/api/v1/projects/${encodeURIComponent(project)}/lifecycle/${moment}`;
    try {
      const response = await fetch(address, {
        method: "POST",
        headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
        body: JSON.stringify({ session: short(session), stream, client: "openclaw", ...body }),
        redirect: "error",
        signal: AbortSignal.timeout(SECONDS * 1000),
      });
      const text = await bounded(response);
      const answer = text === null ? null : JSON.parse(text);
      if (response.ok && answer && typeof answer === "object") return { answer, refused: false };
      this.note(moment, `the hub says no (${response.status} ${answer?.message ?? ""})`);
      return { answer: null, refused: FINAL.includes(response.status) };
    } catch (wrong) {
      this.note(moment, wrong?.name === "TimeoutError" ? "no answer in time" : String(wrong?.message ?? wrong));
    }
    return { answer: null, refused: false };
  }

  note(moment, sentence) {
    this.logger?.warn?.(`memoryhub ${moment}: ${sentence.slice(0, 300)}`);
  }

  /** The workspace's checkpoint file and when it was written; null where there is none, or it leads outside. */
  async stateFile() {
    if (!this.workspace) return null;
    try {
      const top = await realpath(this.workspace);
      const file = await realpath(path.resolve(top, this.config.stateFile || "memory/CURRENT_STATE.md"));
      const { size, mtimeMs } = await stat(file);
      if (!file.startsWith(top + path.sep) || size > STATE_MAX_SIZE) return null;
      return { text: await readFile(file, "utf-8"), at: mtimeMs };
    } catch {
      return null;
    }
  }

  /** Tells a moment with the file, where it changed since this session sent it; else without, if it may. */
  async tellState(moment, session, { always = false } = {}) {
    const file = await this.stateFile();
    const isNew = file !== null && file.text !== this.sent.get(session);
    if (!isNew && !always) return;
    const version = this.versions.get(session);
    const given = isNew ? { text: file.text, ...(version ? { based_on: version } : {}) } : {};
    const { answer, refused } = await this.tell(moment, session, given);
    if (isNew && (answer || refused)) this.sent.set(session, file.text);
    if (answer?.version) this.versions.set(session, answer.version);
  }

  /** What it is shown it has read: its next save is based on that. Hosts begin a new session with either call. */
  async hasRead(session, { version, updated_at: updated }) {
    const isFirst = !this.versions.has(session);
    this.versions.set(session, version ?? 0);
    const file = isFirst && updated ? await this.stateFile() : null;
    // One that is older than the checkpoint was overtaken: its next change is sent. The hub says whole seconds.
    if (file && Math.floor(file.at / 1000) <= Date.parse(updated) / 1000) this.sent.set(session, file.text);
  }

  async bootstrap({ sessionId, sessionKey } = {}) {
    if (this.children.has(sessionKey)) return { bootstrapped: false, reason: "a sub-agent begins with its seed" };
    this.ids.set(sessionKey, sessionId);
    const { answer } = await this.tell("bootstrap", sessionId);
    if (answer === null) return { bootstrapped: false, reason: "the hub wasn't reached" };
    await this.hasRead(sessionId, answer);
    return { bootstrapped: answer.recover === true, reason: answer.message };
  }

  async ingest() {
    return { ingested: false };
  }

  async assemble({ sessionId, sessionKey, messages } = {}) {
    const child = this.children.get(sessionKey);
    const budget = this.config.budget ? { budget: this.config.budget } : {};
    const { answer } = child ? { answer: null } : await this.tell("assemble", sessionId, budget);
    if (!child) this.ids.set(sessionKey, sessionId);
    if (answer) await this.hasRead(sessionId, answer);
    const addition = child?.seed ?? answer?.snapshot ?? "";
    return {
      messages,
      estimatedTokens: estimated(messages, addition),
      ...(addition ? { systemPromptAddition: addition } : {}),
    };
  }

  async afterTurn({ sessionId, sessionKey, messages, isHeartbeat } = {}) {
    const child = this.children.get(sessionKey);
    if (child) {
      child.results = lastWords(messages) || child.results;
      return;
    }
    if (!isHeartbeat) await this.tellState("after-turn", sessionId);
  }

  /** The same, of hosts that say which turn it was. Nothing of a turn is kept, so that a key alone is enough. */
  async commitTurn({ advancementKey, ...turn } = {}) {
    if (this.turns.has(advancementKey)) return { status: "duplicate" };
    this.turns.set(advancementKey, true);
    await this.afterTurn(turn);
    return { status: "committed" };
  }

  async compact(params = {}) {
    const { sessionId, sessionKey } = params;
    if (!this.children.has(sessionKey)) await this.tellState("compact", sessionId, { always: true });
    try {
      const { delegateCompactionToRuntime } = await import("openclaw/plugin-sdk/core");
      return await delegateCompactionToRuntime(params);
    } catch (wrong) {
      this.note("compact", `the host compacts by itself: ${wrong?.message ?? wrong}`);
      return { ok: true, compacted: false, reason: "left to the host" };
    }
  }

  async prepareSubagentSpawn({ parentSessionKey, parentSessionId, childSessionKey } = {}) {
    const session = parentSessionId ?? this.ids.get(parentSessionKey) ?? parentSessionKey;
    const { answer } = await this.tell("prepare-subagent", session);
    this.children.set(childSessionKey, { session, seed: answer?.seed ?? "", results: "" });
    return { rollback: () => this.children.delete(childSessionKey) };
  }

  async onSubagentEnded({ childSessionKey, results } = {}) {
    const child = this.children.get(childSessionKey);
    if (!child) return;
    this.children.delete(childSessionKey);
    const said = String(results ?? child.results).slice(0, RESULTS_MAX_LENGTH);
    if (said.trim()) {
      await this.tell("subagent-ended", child.session, { child: short(childSessionKey), results: said });
    }
  }

  async dispose() {
    this.children.clear();
  }
}

export default {
  id: ID,
  name: "MemoryHub",
  kind: "context-engine",
  register(api) {
    api.registerContextEngine(
      ID,
      (context) =>
        new MemoryHubEngine({
          config: api.pluginConfig ?? {},
          workspaceDir: context?.workspaceDir ?? "",
          logger: api.logger,
        }),
    );
  },
};

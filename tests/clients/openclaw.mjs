// Runs methods of the plugin's engine as OpenClaw would: calls as JSON on standard input, answers on standard output.
import { pathToFileURL } from "node:url";

const { folder, workspaceDir, pluginConfig, calls } = JSON.parse(await new Response(process.stdin).text());
const { default: plugin } = await import(pathToFileURL(`${folder}/index.js`));
const said = [];
let make;
plugin.register({
  pluginConfig,
  logger: { warn: (text) => said.push(text) },
  registerContextEngine: (id, factory) => (make = factory),
});
const engine = make({ workspaceDir });
const answers = [];
for (const [method, params] of calls) {
  if (method === "write") {
    const { mkdir, writeFile } = await import("node:fs/promises");
    await mkdir(`${workspaceDir}/memory`, { recursive: true });
    await writeFile(`${workspaceDir}/memory/CURRENT_STATE.md`, params);
    answers.push(null);
  } else if (method === "rollback") {
    await answers.at(-1).rollback();
    answers.push(null);
  } else {
    answers.push((await engine[method](params)) ?? null);
  }
}
process.stdout.write(JSON.stringify({ info: engine.info, answers, said }));

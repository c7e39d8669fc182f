"""The way of a proposal over MCP alone, with two tokens: proposed, seen, edited, approved, heard of."""

from __future__ import annotations

from projects.models import Project, User
from tests.factories import token_for
from tests.mcp_client import Agent
from tests.reviews.asking import policy

CONTEXT = {
    "session": "s-1",
    "client": "claude-code",
    "model": "a-model",
    "branch": "fix/429",
    "commit": "1c0ffee",
}
PROPOSED = {
    "title": "Webhook signatures",
    "summary": "Webhooks are signed over the raw bodie.",
    "kind": "fact",
    "reason": "Asked by a partner.",
}


def test_a_proposal_goes_its_way_over_mcp_and_the_next_session_hears_of_it(
    project: Project, bob: User, rita: User
) -> None:
    policy(project, "agents")
    proposing = Agent(token_for(bob, project)[1])
    deciding = Agent(token_for(rita, project, rights=("read", "write", "review"))[1])
    assert "waiting" not in deciding.call("memory_recall").text

    said = proposing.call("memory_add", **PROPOSED, write_context=CONTEXT).json
    assert (said["result"], said["review"]) == ("pending_review", "R1")
    assert PROPOSED["title"] not in proposing.call("memory_recall").text
    assert proposing.call("memory_search", query="webhook").json["pending"][0]["review"] == "R1"

    assert deciding.call("memory_recall").text.endswith("\n1 review waiting")
    (row,) = deciding.call("review_list").json["items"]
    assert {name: row["provenance"][name] for name in CONTEXT} == CONTEXT
    (whole,) = deciding.call("review_list", review=row["review"]).json["items"]
    changes = {change["field"]: change["proposed"] for change in whole["changes"]}
    mended = changes["summary"].replace("bodie", "body")
    done = deciding.write(
        "review_decide", review="R1", decision="approve", edits={"summary": mended}, note="A typing error."
    ).json
    assert (done["status"], done["version"]) == ("approved", 1)

    # The next session of the proposer, with another token.
    starting = Agent(token_for(bob, project)[1])
    (outcome,) = starting.call("continuity_context").json["outcomes"]
    assert (outcome["review"], outcome["status"], outcome["note"]) == ("R1", "approved", "A typing error.")
    recall = starting.call("memory_recall").text
    assert f"[#{done['number']}] (fact) Webhook signatures: {mended}" in recall
    assert recall.endswith("\nR1 approved")
    came_from = starting.call("memory_get", ref=done["number"]).json["provenance"]
    assert {name: came_from[name] for name in CONTEXT} == CONTEXT
    assert (came_from["actor"], came_from["approved_by"]) == ("bob's agent (laptop)", "rita's agent (laptop)")
    assert starting.call("review_list", status="pending").json["total"] == 0

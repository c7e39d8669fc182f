"""A store of what strains a page: long words, many children, other scripts and directions, hidden marks."""

from __future__ import annotations

from memories.models import Memory, Tag
from memories.services import revise_memory
from projects.models import Project, Role, User
from tests.factories import MemoryFactory, agent, member, person, receipt_in, task_in, token_for
from tests.memories.bulk import stock
from tests.reviews.asking import policy, propose, propose_change

# A word of the longest title that there may be, and of the longest summary.
LONG, LONGER = "W" * Memory.TITLE_MAX_LENGTH, "m" * Memory.SUMMARY_MAX_LENGTH
CHILDREN = 200

TITLES = {
    "long": LONG,
    "long path": "src/" + "deeply_nested_module/" * 5 + "main.py",
    "hebrew": "מדיניות ניסיון חוזר (API v2) עבור קריאות 429",
    "arabic": "سياسة إعادة المحاولة لطلبات HTTP 429",
    "cjk": "重试策略与退避算法：所有外部接口调用都必须遵守的规则和例外情况",
    "thai": "นโยบายการลองใหม่สำหรับการเรียกใช้บริการภายนอกทั้งหมดที่ไม่มีช่องว่าง",
    "emoji": "👩‍👩‍👧‍👦🏳️‍🌈" * 10,
    "marks": "in\u202evoice\u202cgnp.exe \u2066isolated\u2069 \u200fmark",
    "zalgo": "Z" + "\u0301\u0316\u0334" * 30 + "algo",
}


def fill_hostile(project: Project, owner: User) -> dict[str, Memory]:
    """Fill a project in which nothing waits yet; what is proposed waits then. By name, what is stored."""
    made = {
        name: MemoryFactory(
            project=project,
            author=owner,
            title=title,
            summary=(title + " " + LONGER)[: Memory.SUMMARY_MAX_LENGTH],
            body=f"{title}\n\n{'b' * 3000}\n\n| {'h' * 200} | b |\n|---|---|\n| {'c' * 400} | d |\n\n"
            f"    {'code' * 200}\n\n- {title}\n",
            kind="constraint",
            scope_paths=["s" * 200],
            tags=["t" * Tag.NAME_MAX_LENGTH, "a" * Tag.NAME_MAX_LENGTH, "b" * Tag.NAME_MAX_LENGTH],
            retrieval_hints=["h" * 120],
            actor=agent(owner, "s" * 80),
            reason="r" * 500,
        )
        for name, title in TITLES.items()
    }
    project.refresh_from_db()
    bag = {"title": f"Bag {LONG}"[: Memory.TITLE_MAX_LENGTH], "summary": LONGER}
    inside = [
        {"title": f"Child {n} {LONG}"[: Memory.TITLE_MAX_LENGTH], "summary": LONGER, "parent": 0}
        for n in range(CHILDREN)
    ]
    made["bag"] = stock(project, owner, [bag, *inside])[0]
    revise_memory(
        actor=person(owner), memory=made["hebrew"], expected_version=1, summary=TITLES["arabic"], reason=LONG
    )
    task_in(project, owner, title=LONG, summary=TITLES["hebrew"])
    receipt_in(project, owner, summary=TITLES["arabic"] + " " + "r" * 150)
    token_for(owner, project)
    bob = member(project, "b" * 60, Role.CONTRIBUTOR)
    policy(project, "agents")
    for title in TITLES.values():
        propose(agent(bob, "s" * 80), project, title=f"N{title}"[: Memory.TITLE_MAX_LENGTH], summary=LONGER)
    propose_change(agent(bob, "s" * 80), made["cjk"], summary=TITLES["hebrew"] + " " + "x" * 200, reason=LONG)
    return made

"""Links between pages lead somewhere: the file is there, and has the heading."""

import re

import documents
import pytest
from documents import ROOT

WRITTEN = ("torch", "paddle", "mindspore")  # folders of docs/reference that are made when the site is built
PAGES = sorted(
    page
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    if not (page.parent.parent == ROOT / "docs" / "reference" and page.parent.name in WRITTEN)
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    astray = []
    for link in documents.links(page):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or ROOT not in target.parents:
            astray.append(f"{link}: there is no such file")
        elif anchor and anchor not in documents.anchors(target):
            astray.append(f"{link}: no heading of that name")
    assert not astray, "\n".join(astray)


def test_a_link_that_leads_nowhere_is_seen(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        '# A `title`, twice\n# A `title`, twice\n[one](x.md#y) `[no](code)` ![two](z.png "t")\n```\n[no](block)\n```\n'
    )
    assert documents.links(page) == ["x.md#y", "z.png"]
    assert documents.anchors(page) == {"a-title-twice", "a-title-twice-1"}


def test_every_page_is_in_the_navigation():
    """Each page of docs/ stands in the `toctree` of another, so that the site leads to it."""
    docs = ROOT / "docs"
    named = set()
    for page in docs.rglob("*.md"):
        for block in documents.blocks(page):
            if block.kind == "{toctree}":
                for entry in (line for line in block.text.split("\n") if line and not line.startswith(":")):
                    path = re.sub(r".*<(.*)>", r"\1", entry)
                    named.update(page.parent.glob(f"{path}.md"))
    left_out = (
        {str(p.relative_to(docs)) for p in PAGES if docs in p.parents}
        - {str(p.relative_to(docs)) for p in named}
        - {"index.md"}
    )
    assert not left_out

"""What the agents of the examples are asked, do and answer."""

from __future__ import annotations

from typing import Any, NamedTuple


class Step(NamedTuple):
    """One tool call: what it gave, the resource it touched, the check it was, a slip before it."""

    tool: str
    args: dict[str, Any]
    result: dict[str, Any]
    touches: str | None = None
    operation: str = "read"
    checks: str | None = None
    slip: str | None = None


class Turn(NamedTuple):
    """One run: the goal, the steps, the answer, and what is remembered as (type, key, content)."""

    goal: str
    steps: tuple[Step, ...]
    answer: str
    remember: tuple[tuple[str, str, Any], ...] = ()


class Script(NamedTuple):
    """An agent's prompts, each with the turn before which it is set, and its turns."""

    system: tuple[tuple[int, str], ...]
    turns: tuple[Turn, ...]


def read(path: str, found: str, slip: str | None = None) -> Step:
    """A file read."""
    return Step("read_file", {"path": path}, {"ok": True, "excerpt": found}, path, slip=slip)


def missing(path: str) -> Step:
    """A file that is not there."""
    return Step("read_file", {"path": path}, {"error": f"ENOENT: no such file, open '{path}'"}, path)


def write(path: str, change: str) -> Step:
    """A file changed."""
    return Step("apply_patch", {"path": path, "summary": change}, {"ok": True}, path, "write")


def run(command: str, output: str, code: int = 0) -> Step:
    """A command run, as a check."""
    return Step("run_command", {"command": command}, {"exitCode": code, "output": output}, checks=command)


def find(pattern: str, *hits: str) -> Step:
    """A search in the code."""
    return Step("search_code", {"pattern": pattern}, {"ok": True, "hits": list(hits)})


_TESTS = "pytest -q"

CODING = Script(
    (
        (0, "You are a careful engineer on the kiosk repository. Read before you write, and run the tests."),
        (22, "You are a careful engineer on the kiosk repository. Read before you write, and run tests and ruff."),
    ),
    (
        Turn(
            "The total of a basket with a discount is one cent too high sometimes. Find out why.",
            (
                read("src/kiosk/basket.py", "total = sum(line.price * line.count) * (1 - discount)"),
                read("tests/test_basket.py", "def test_total_without_discount"),
                run(_TESTS, "41 passed in 2.1s"),
            ),
            "Prices are floats, and the discount is applied to their sum: 3 × 0.35 with 10 % off gives 0.945, which "
            "is rounded up. Amounts should be integers of cents.",
            (("memory", "money-is-cents", "Amounts in kiosk are to become integers of cents; floats round wrongly."),),
        ),
        Turn(
            "Change basket.py to cents, then.",
            (
                write("src/kiosk/basket.py", "keep prices as integers of cents; round half even once, at the end"),
                write("tests/test_basket.py", "test 3 × 0.35 with 10 % off"),
                run(_TESTS, "1 failed, 41 passed: test_receipt.py::test_total_line", 1),
                read("src/kiosk/receipt.py", 'f"{basket.total:.2f}"'),
                write("src/kiosk/receipt.py", "format cents with format_money"),
                run(_TESTS, "42 passed in 2.2s"),
            ),
            "Baskets count in cents now, and the receipt formats them. 42 tests pass.",
        ),
        Turn(
            "Where else do we still use floats for money?",
            (
                find(r"float\(", "src/kiosk/import_csv.py:31", "src/kiosk/refund.py:12"),
                read("src/kiosk/import_csv.py", 'price = float(row["price"])'),
                read("src/kiosk/refund.py", "amount = float(amount)"),
            ),
            "In two places: the CSV import and refunds. Both should parse to cents with Decimal.",
        ),
        Turn(
            "Fix both.",
            (
                write("src/kiosk/import_csv.py", 'price = cents(Decimal(row["price"]))'),
                write("src/kiosk/refund.py", "take cents; refuse negative amounts"),
                write("tests/test_refund.py", "a negative refund is refused"),
                run(_TESTS, "44 passed in 2.3s"),
            ),
            "Import and refunds count in cents; a negative refund raises ValueError.",
            (("wisdom", "money-check", "After a change of money code, search for float( in all of src."),),
        ),
        Turn(
            "Add a command `kiosk report --day` that prints takings by payment method.",
            (
                read("src/kiosk/cli.py", "subparsers.add_parser('import')"),
                missing("src/kiosk/report.py"),
                read("src/kiosk/store.py", "class SaleStore: def sales(self, since, until)"),
                write("src/kiosk/report.py", "takings(sales) -> dict of method to cents"),
                write("src/kiosk/cli.py", "the command report with --day"),
                write("tests/test_report.py", "two methods, one empty day"),
                run(_TESTS, "46 passed in 2.4s"),
            ),
            "`kiosk report --day 2026-09-01` prints one line for each payment method and a total.",
        ),
        Turn(
            "The report is empty for today's date in Auckland. Why?",
            (
                read("src/kiosk/report.py", "since = datetime.combine(day, time.min)"),
                read("src/kiosk/store.py", "stored as UTC text"),
                run("TZ=Pacific/Auckland kiosk report --day 2026-09-02", "no sales"),
            ),
            "Sales are stored in UTC and the day is taken without a zone, so a day in Auckland begins 12 hours off.",
        ),
        Turn(
            "Use the shop's zone from the settings.",
            (
                read("src/kiosk/settings.py", 'zone: str = "UTC"', slip="I should look at the settings now."),
                write("src/kiosk/report.py", "the day in the shop's zone, turned into UTC"),
                write("tests/test_report.py", "Auckland on both sides of midnight"),
                run(_TESTS, "48 passed in 2.4s"),
            ),
            "A day is now the shop's own: settings.zone decides where it begins and ends.",
            (("memory", "shop-zone", "settings.zone is the shop's time zone; sales are stored in UTC."),),
        ),
        Turn(
            "CI is red on Python 3.10. Look at it.",
            (
                run("gh run view --log-failed", "ImportError: cannot import name 'Self' from 'typing'", 1),
                find("from typing import Self", "src/kiosk/store.py:4"),
                write("src/kiosk/store.py", "import Self from typing_extensions"),
                read("pyproject.toml", 'requires-python = ">=3.10"'),
                write("pyproject.toml", "typing-extensions as a dependency"),
                run(_TESTS, "48 passed in 2.4s"),
            ),
            "typing.Self came with 3.11. It is imported from typing_extensions now.",
        ),
        Turn(
            "Write the changelog for what we have so far.",
            (
                read("CHANGELOG.md", "## 1.3.0 - 2026-07-19"),
                write("CHANGELOG.md", "Unreleased: cents, refunds, report, zones"),
            ),
            "CHANGELOG.md has an Unreleased section with four entries.",
            (("preference", "changelog-style", "Entries are one sentence, in the past tense, for shop owners."),),
        ),
        Turn(
            "How fast is import with 100,000 rows?",
            (
                run("python bench/import_rows.py 100000", "100000 rows in 41.8 s"),
                read("src/kiosk/import_csv.py", "store.add(sale) for each row, each with its own commit"),
            ),
            "42 seconds: each row is a transaction of its own.",
        ),
        Turn(
            "Make it ten times faster.",
            (
                write("src/kiosk/store.py", "add_many: one transaction"),
                write("src/kiosk/import_csv.py", "batches of 5,000 rows"),
                run(_TESTS, "1 failed, 47 passed: test_import.py::test_bad_row_keeps_the_good_ones", 1),
                read("tests/test_import.py", "a bad row is reported and the others stay"),
                write("src/kiosk/import_csv.py", "check a row before it joins its batch"),
                run(_TESTS, "48 passed in 2.5s"),
                run("python bench/import_rows.py 100000", "100000 rows in 1.9 s"),
            ),
            "100,000 rows now take 1.9 s instead of 41.8. A bad row is still reported and the others stay.",
            (("wisdom", "sqlite-batches", "One transaction a row cost 95 % of the import; batch of 5,000 is enough."),),
        ),
        Turn(
            "What did we decide about money again?",
            (),
            "Amounts are integers of cents everywhere; text becomes cents through Decimal, and rounding is half even, "
            "once, at the end.",
        ),
        Turn(
            "A customer's receipt shows '1.5' instead of '1.50'.",
            (
                read("src/kiosk/money.py", 'return f"{cents / 100}"'),
                write("src/kiosk/money.py", 'f"{cents // 100}.{cents % 100:02}"'),
                write("tests/test_money.py", "150, 5, 0 and -150"),
                run(_TESTS, "1 failed, 49 passed: test_money.py::test_negative", 1),
                write("src/kiosk/money.py", "the sign apart from the digits"),
                run(_TESTS, "50 passed in 2.5s"),
            ),
            "format_money divided by 100 and printed a float. It now prints two digits always, negatives too.",
        ),
        Turn(
            "Rename SaleStore.sales to SaleStore.between.",
            (
                find(r"\.sales\(", "src/kiosk/report.py:14", "src/kiosk/cli.py:52", "tests/test_store.py:20"),
                write("src/kiosk/store.py", "between(since, until)"),
                write("src/kiosk/report.py", "call between"),
                write("src/kiosk/cli.py", "call between"),
                write("tests/test_store.py", "call between"),
                run(_TESTS, "50 passed in 2.5s"),
            ),
            "Renamed in four files.",
        ),
        Turn(
            "Is anything in the README wrong by now?",
            (
                read("README.md", "kiosk import sales.csv; store.sales(…)"),
                write("README.md", "store.between, kiosk report"),
            ),
            "It still said store.sales. I corrected it and added `kiosk report`.",
        ),
        Turn(
            "Could the report also give a JSON output?",
            (
                read("src/kiosk/cli.py", "def report(args)"),
                write("src/kiosk/cli.py", "--json on report"),
                write("tests/test_report.py", "--json parses, and has cents"),
                run(_TESTS, "51 passed in 2.5s"),
            ),
            "`kiosk report --json` prints methods and cents as one object.",
        ),
        Turn(
            "Two tills wrote at once and one got 'database is locked'. What can we do?",
            (
                read("src/kiosk/store.py", "sqlite3.connect(path)"),
                run("python bench/two_tills.py", "37 of 2000 writes: database is locked", 1),
                write("src/kiosk/store.py", "WAL, BEGIN IMMEDIATE, a timeout of 10 s"),
                run("python bench/two_tills.py", "0 of 2000 writes failed"),
                run(_TESTS, "51 passed in 2.6s"),
            ),
            "Writers now wait for each other instead of failing: WAL, BEGIN IMMEDIATE and a busy timeout. "
            "2,000 writes from two tills went through.",
            (("memory", "two-tills", "kiosk runs with two tills on one file; bench/two_tills.py shows that it holds."),),
        ),
        Turn(
            "Does a killed till lose a sale?",
            (
                read("src/kiosk/store.py", "PRAGMA synchronous not set"),
                write("src/kiosk/store.py", "synchronous = FULL"),
                write("tests/test_durability.py", "kill -9 after add() returned; the sale is there"),
                run(_TESTS, "52 passed in 4.0s"),
            ),
            "Not once add() has returned: synchronous is FULL now, and a test kills the process to see.",
        ),
        Turn(
            "Why is test_durability slow?",
            (read("tests/test_durability.py", "20 rounds, each starts Python"),),
            "It starts Python 20 times. Five rounds would show the same in 0.6 s.",
        ),
        Turn(
            "Five, then.",
            (write("tests/test_durability.py", "5 rounds"), run(_TESTS, "52 passed in 3.1s")),
            "Done: five rounds.",
        ),
        Turn(
            "Add gift cards: they are sold, and pay later.",
            (
                find("payment_method", "src/kiosk/sale.py:18", "src/kiosk/report.py:9"),
                read("src/kiosk/sale.py", "class Sale: lines, payment_method, at"),
                missing("src/kiosk/gift_card.py"),
                write("src/kiosk/gift_card.py", "GiftCard: code, balance; redeem(cents)"),
                write("src/kiosk/sale.py", "payments: list of (method, cents)"),
                run(_TESTS, "6 failed, 46 passed: Sale has no payment_method", 1),
                write("src/kiosk/report.py", "sum payments by method"),
                write("tests/test_report.py", "sales with two payments"),
                run(_TESTS, "52 passed in 3.1s"),
            ),
            "A sale can be paid by several means now, one of them a gift card. Reports sum by means.",
        ),
        Turn(
            "A card with too little on it should not be refused, but pay what it has.",
            (
                read("src/kiosk/gift_card.py", "raise ValueError('not enough')"),
                write("src/kiosk/gift_card.py", "redeem returns the cents that it paid"),
                write("tests/test_gift_card.py", "a card of 5.00 pays 5.00 of 12.00"),
                run(_TESTS, "54 passed in 3.2s"),
            ),
            "redeem() gives back what it paid; the rest stays to be paid otherwise.",
            (("preference", "gift-cards", "A gift card pays what it has; never refuse it for being short."),),
        ),
        Turn(
            "We use ruff from now on. Set it up and fix what it finds.",
            (
                write("pyproject.toml", "ruff with E, F, I, B, UP"),
                run("ruff check .", "14 errors, 11 fixable", 1),
                run("ruff check . --fix", "3 errors left", 1),
                write("src/kiosk/cli.py", "raise SystemExit from None; no bare except"),
                run("ruff check .", "All checks passed!"),
                run(_TESTS, "54 passed in 3.2s"),
            ),
            "ruff is in pyproject.toml. Eleven findings were fixed by itself, three by hand.",
        ),
        Turn(
            "What is a bare except and why was it there?",
            (read("src/kiosk/cli.py", "except: print('import failed')"),),
            "It caught everything, Ctrl-C too, and printed one line. It catches ImportFailed now.",
        ),
        Turn(
            "Deleting a product breaks old receipts.",
            (
                read("src/kiosk/receipt.py", "products[line.product_id].name"),
                read("src/kiosk/sale.py", "SaleLine: product_id, count, price"),
                write("src/kiosk/sale.py", "SaleLine keeps the product's name"),
                write("src/kiosk/receipt.py", "the name of the line"),
                write("src/kiosk/store.py", "migration 4: fill in names of old lines"),
                run(_TESTS, "55 passed in 3.3s"),
            ),
            "A line keeps the name that it was sold under. Migration 4 fills in the names of old lines.",
            (("memory", "migrations", "Migrations are numbered functions in store.py; the newest is 4."),),
        ),
        Turn(
            "Run migration 4 on a copy of the real database.",
            (
                run("kiosk migrate copy.db", "KeyError: 'P-0117'", 1),
                run("sqlite3 copy.db 'select count(*) from lines where product_id = \"P-0117\"'", "3"),
                write("src/kiosk/store.py", "a product that is gone is named by its id"),
                run("kiosk migrate copy.db", "migrated to 4 in 0.8 s"),
                run(_TESTS, "56 passed in 3.3s"),
            ),
            "Three lines named a product that had been deleted before. They are named by its id; it went through.",
        ),
        Turn(
            "Release 1.4.0.",
            (
                read("CHANGELOG.md", "Unreleased"),
                write("CHANGELOG.md", "1.4.0 - 2026-09-01"),
                write("pyproject.toml", "version 1.4.0"),
                run("ruff check . && pytest -q", "56 passed in 3.3s"),
                run("git tag v1.4.0", ""),
            ),
            "1.4.0 is tagged, with eleven entries in the changelog.",
            (("artifact", "release-1.4.0", "Tag v1.4.0: cents, zones, report, gift cards, migration 4."),),
        ),
        Turn(
            "The tills show yesterday's prices after an import.",
            (
                find("cache", "src/kiosk/catalogue.py:8"),
                read("src/kiosk/catalogue.py", "@lru_cache def price(product_id)"),
                write("src/kiosk/catalogue.py", "the cache is dropped when the catalogue's revision moves"),
                write("tests/test_catalogue.py", "a new price shows at once"),
                run(_TESTS, "57 passed in 3.3s"),
            ),
            "Prices were cached for ever. The cache now follows the catalogue's revision.",
        ),
        Turn(
            "Are there other caches like that?",
            (find("lru_cache|@cache", "src/kiosk/catalogue.py:8", "src/kiosk/settings.py:40"),),
            "One in settings.py: it is read once a process, which is what its docstring promises.",
        ),
        Turn(
            "Translate receipts into French.",
            (
                read("src/kiosk/receipt.py", '"Total", "Thank you"'),
                missing("src/kiosk/locale/fr.json"),
                write("src/kiosk/locale/fr.json", "Total, Merci, Remise, Carte cadeau"),
                write("src/kiosk/receipt.py", "texts of the shop's language"),
                write("tests/test_receipt.py", "a French receipt: 1 234,50 €"),
                run(_TESTS, "1 failed, 57 passed: 1,234.50 €", 1),
                write("src/kiosk/money.py", "the language's separators"),
                run(_TESTS, "58 passed in 3.4s"),
            ),
            "Receipts come in English and French, with each language's separators.",
        ),
        Turn(
            "And German?",
            (
                write("src/kiosk/locale/de.json", "Summe, Danke, Rabatt, Gutschein"),
                write("tests/test_receipt.py", "a German receipt: 1.234,50 €"),
                run(_TESTS, "59 passed in 3.4s"),
            ),
            "German is there too.",
        ),
        Turn(
            "Someone says that refunds don't show in the report.",
            (
                read("src/kiosk/report.py", "for sale in store.between(…)"),
                read("src/kiosk/refund.py", "store.add_refund(refund)"),
                write("src/kiosk/report.py", "take refunds off"),
                write("tests/test_report.py", "a refund on the day"),
                run(_TESTS, "60 passed in 3.4s"),
            ),
            "That is right: refunds were stored and never read. The report takes them off now.",
            (("wisdom", "written-never-read", "When something is stored, look for the place that reads it."),),
        ),
        Turn(
            "Check that takings of August still add up.",
            (
                run("kiosk report --month 2026-08", "error: unrecognized arguments: --month", 2),
                run("for d in $(seq -w 1 31); do kiosk report --json --day 2026-08-$d; done", "31 objects"),
            ),
            "There is no --month, so I added up 31 days: 48,211.35, which is what the till rolls say.",
        ),
        Turn(
            "Add --month.",
            (
                write("src/kiosk/cli.py", "--month beside --day"),
                write("src/kiosk/report.py", "any span of days"),
                write("tests/test_report.py", "a month is the sum of its days"),
                run("ruff check . && pytest -q", "61 passed in 3.5s"),
            ),
            "`kiosk report --month 2026-08` gives 48,211.35.",
        ),
        Turn(
            "Could two people redeem one gift card at the same moment?",
            (
                read("src/kiosk/gift_card.py", "balance read, then written"),
                run("python bench/one_card.py", "paid 10.00 with a card of 5.00", 1),
                write("src/kiosk/gift_card.py", "UPDATE … WHERE balance >= ?"),
                run("python bench/one_card.py", "paid 5.00 with a card of 5.00"),
                run(_TESTS, "61 passed in 3.5s"),
            ),
            "Yes, and it paid twice. The balance is now compared and set in one statement.",
            (("wisdom", "compare-and-set", "A balance that is read and then written is lost; compare and set it."),),
        ),
        Turn(
            "Where is compare-and-set missing elsewhere?",
            (
                find("UPDATE", "src/kiosk/store.py:88", "src/kiosk/stock.py:21"),
                read("src/kiosk/stock.py", "count = read(); write(count - 1)"),
            ),
            "In stock.py: two tills can sell the last piece twice.",
        ),
        Turn(
            "Fix stock.py the same way.",
            (
                write("src/kiosk/stock.py", "UPDATE stock SET count = count - ? WHERE count >= ?"),
                write("tests/test_stock.py", "two tills and one piece"),
                run(_TESTS, "62 passed in 3.5s"),
            ),
            "The last piece is sold once.",
        ),
        Turn(
            "Write an architecture page for new people.",
            (
                read("README.md", "kiosk is a till for small shops"),
                read("src/kiosk/store.py", "SaleStore, migrations"),
                write("docs/architecture.md", "modules, money, time, concurrency"),
            ),
            "docs/architecture.md explains the modules and the three rules: cents, UTC, compare-and-set.",
            (("artifact", "architecture-page", "docs/architecture.md"),),
        ),
        Turn(
            "What would you look at next?",
            (find("not done yet", "src/kiosk/printer.py:33"), read("src/kiosk/printer.py", "no retry when it is out of paper")),
            "The printer: a receipt is lost when it is out of paper. That is the only open place that I found.",
        ),
        Turn(
            "Release 1.5.0, then we stop for today.",
            (
                write("CHANGELOG.md", "1.5.0 - 2026-09-01"),
                write("pyproject.toml", "version 1.5.0"),
                run("ruff check . && pytest -q", "62 passed in 3.5s"),
                run("git tag v1.5.0", ""),
            ),
            "1.5.0 is tagged. 62 tests pass.",
            (
                ("artifact", "release-1.5.0", "Tag v1.5.0: French and German, refunds in reports, compare-and-set."),
                ("memory", "next", "Next: the printer loses a receipt when it is out of paper."),
            ),
        ),
    ),
)  # fmt: skip


def track(parcel: str, **result: Any) -> Step:
    """A parcel looked up."""
    return Step("track_parcel", {"parcel": parcel}, result)


def policy(name: str, says: str) -> Step:
    """A page of the handbook."""
    return Step("read_policy", {"name": name}, {"ok": True, "text": says}, f"policies/{name}.md")


SUPPORT = Script(
    (
        (
            0,
            "You answer the customers of Papierhaus, a stationery shop. Be brief and kind. Never promise a date.",
        ),
    ),
    (
        Turn(
            "Where is my order PH-4411?",
            (track("PX-20441", status="in transit", depot="Leipzig"),),
            "Your parcel has left Leipzig and is on its way to you.",
            (("memory", "open-parcel", "PX-20441 for order PH-4411"),),
        ),
        Turn(
            "Can I still change the address?",
            (
                policy("delivery", "An address can be changed until the parcel has left the last depot."),
                track("PX-20441", status="in transit", depot="Jena"),
                Step("change_address", {"parcel": "PX-20441"}, {"ok": True}),
            ),
            "Yes. I have asked for it; the depot in Jena will send it to the new address.",
        ),
        Turn(
            "One of the notebooks was wet when it came. I'd like my money back.",
            (
                policy(
                    "returns",
                    "Damaged goods are replaced or refunded, as the customer wishes; a photo is enough.",
                ),
                Step("refund", {"order": "PH-4411", "cents": 1290}, {"ok": True, "refund": "RF-902"}),
            ),
            "I am sorry about that. 12.90 € are on their way back to you, refund RF-902.",
            (("memory", "refund-rf-902", "12.90 € for a wet notebook of PH-4411"),),
        ),
        Turn(
            "Please write to me by e-mail only, I can't be called at work.",
            (),
            "Of course. I have noted that we write to you by e-mail only.",
            (("preference", "channel", "e-mail only; never call"),),
        ),
        Turn(
            "Do you have the blue ink again?",
            (
                Step("search_stock", {"query": "ink blue"}, {"error": "stock service answered 503"}),
                Step(
                    "search_stock",
                    {"query": "ink blue"},
                    {"ok": True, "count": 34},
                    slip="Let me try once more.",
                ),
            ),
            "Yes, 34 bottles of the blue ink are here.",
        ),
        Turn(
            "And where is the parcel that you sent yesterday?",
            (track("PX-20817", status="in transit", depot="Halle"),),
            "It is in Halle at the moment. I'll write to you by e-mail if anything changes.",
            (("memory", "open-parcel", "PX-20817, last seen in Halle"),),
        ),
    ),
)


def paper(key: str, says: str) -> Step:
    """A paper opened."""
    return Step("open_paper", {"key": key}, {"ok": True, "abstract": says}, f"papers/{key}")


def notes(key: str, change: str) -> Step:
    """The notes changed."""
    return Step("edit_notes", {"section": key, "summary": change}, {"ok": True}, "notes/review.md", "write")


_TOPICS = (
    ("tidal marshes", "barlow-2019", "marsh height follows sea level with a lag of about nine years", 9),
    ("seagrass", "okafor-2021", "half of the stored carbon lies below 20 cm", 50),
    ("mangroves", "lindqvist-2018", "roots triple the strength of the upper 30 cm of mud", 3),
    ("kelp", "haddad-2022", "fresh kelp adds little to what is buried on the shelf", 2),
    ("salt marsh grazing", "moreau-2017", "grazed marsh is lower by 4 mm a year", 4),
    ("dredging", "tanaka-2020", "plumes reach 2.1 km at spring tide", 2),
    ("oyster reefs", "oduya-2016", "a reef of 50 m takes 30 % off wave height", 30),
    ("mudflats", "barlow-2023", "algal mats bind the top 2 mm from March to June", 2),
)


def _research_turns() -> tuple[Turn, ...]:
    turns = []
    for number, (topic, key, says, figure) in enumerate(_TOPICS):
        slug = topic.replace(" ", "-")
        turns.append(
            Turn(
                f"What is known about {topic} and carbon at the coast?",
                (
                    Step(
                        "search_papers", {"query": f"{topic} carbon"}, {"ok": True, "found": 12 + 7 * number}
                    ),
                    paper(key, says),
                    notes(slug, f"{key}: {says}"),
                ),
                f"The best measured result is that {says} ({key}).",
                (
                    ("memory", f"finding:{slug}", {"paper": key, "finding": says, "figure": figure}),
                    ("artifact", "review", {"path": "notes/review.md", "sections": number + 1}),
                ),
            )
        )
        if number % 3 == 2:
            turns.append(
                Turn(
                    f"Does {key} hold up? Who disagrees?",
                    (
                        Step(
                            "search_papers", {"query": f"cites:{key} disagree"}, {"ok": True, "found": number}
                        ),
                        Step("open_paper", {"key": f"reply-{key}"}, {"error": "behind a paywall"}),
                        notes(slug, f"{key}: replies could not be read"),
                    ),
                    f"There are {number} papers that cite it critically; the one that matters is behind a paywall.",
                    (
                        ("memory", f"finding:{slug}", {"paper": key, "finding": says, "disputed": True}),
                        (
                            "wisdom",
                            "open-access",
                            "Ask for the author's own copy before a paywalled paper is left out.",
                        ),
                    ),
                )
            )
    turns.append(
        Turn(
            "Summarise the review in three sentences.",
            (Step("read_notes", {}, {"ok": True, "sections": 8}, "notes/review.md"),),
            "Marshes and seagrass store most of the carbon, and most of it deep. Grazing and dredging take it away "
            "within years. Kelp matters less than is often said.",
            (
                ("preference", "summaries", "Three sentences, no citations."),
                ("artifact", "review", {"path": "notes/review.md", "sections": 8, "summary": True}),
            ),
        )
    )
    return tuple(turns)


RESEARCH = Script(
    (
        (
            0,
            "You review the literature on coastal carbon. Say what was measured, by whom, and what is disputed.",
        ),
    ),
    _research_turns(),
)


def timetable(line: str, **result: Any) -> Step:
    """A timetable looked up."""
    return Step("時刻表を調べる", {"路線": line}, result, f"時刻表/{line}")


TABI = Script(
    ((0, "あなたは旅の相談係です。短く、ていねいに答えてください。"),),
    (
        Turn(
            "京都で静かな宿を探しています。",
            (
                Step("宿を探す", {"場所": "京都", "条件": ["静か", "和室"]}, {"ok": True, "件数": 7}),
                Step("宿を見る", {"宿": "松風"}, {"ok": True, "一泊": 18000, "部屋": "和室"}, "宿/松風"),
            ),
            "東山の「松風」はいかがでしょう。庭に面した和室で、一泊一万八千円です。",
            (("preference", "hotel-style", "静かな和室"),),
        ),
        Turn(
            "では十一月三日から二泊、予約してください。",
            (Step("予約する", {"宿": "松風", "泊数": 2}, {"error": "満室です"}, "宿/松風", "write"),),
            "申し訳ありません、その日は満室でした。四日からでしたら空いているか調べましょうか。",
        ),
        Turn(
            "四日からでお願いします。",
            (
                Step(
                    "宿を見る", {"宿": "松風"}, {"ok": True, "空室": ["2026-11-04", "2026-11-05"]}, "宿/松風"
                ),
                Step(
                    "予約する", {"宿": "松風", "泊数": 2}, {"ok": True, "番号": "M-118"}, "宿/松風", "write"
                ),
            ),
            "四日から二泊、予約いたしました。番号はM-118です。",
            (("memory", "reservation", "松風 M-118、十一月四日から二泊"),),
        ),
        Turn(
            "東京からはどう行けばいいですか。",
            (timetable("東海道新幹線", ok=True, 発車="09:03", 到着="11:15"),),
            "九時三分発の「のぞみ」で、京都には十一時十五分に着きます。",
        ),
        Turn(
            "もう少し遅い列車がいいです。",
            (timetable("東海道新幹線", ok=True, 発車="10:33", 到着="12:44"),),
            "十時三十三分発、十二時四十四分着がございます。",
            (("preference", "train-times", "朝は遅めの列車"),),
        ),
    ),
)

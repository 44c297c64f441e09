import {
  BUDGETS,
  type BudgetTerms,
  SHARES,
  type ShareName,
  TURNS,
  WAITING_REQUESTS,
} from "../src/admission/budgets.ts";

const KIB = 1024;
const MIB = 1024 * KIB;
const number = (value: number) => value.toLocaleString("en");
const size = (unit: string, value: number) => {
  if (!unit.startsWith("bytes")) return number(value);
  return value < MIB ? `${value / KIB} KiB` : `${value / MIB} MiB`;
};
const ofAll = ({ unit, total, reservedPerClient }: BudgetTerms) =>
  reservedPerClient === undefined
    ? size(unit, total)
    : `${size(unit, total)}, beyond it ${size(unit, reservedPerClient)} each`;

const SPENT: Readonly<Record<ShareName, string>> = {
  unknownKeys: "requests with an unknown API key",
  signedReads: "signed requests that change nothing",
  signedChanges: "signed requests that change something",
  newSessions: "new sessions",
  signIns: "nonces and messages of sign-ins",
  contractChecks: "checks of contract wallets",
  opens: "reports of opened notifications",
  chainReads: "reads of balances and subscriptions on Base",
  manifestChecks: "manifests that are fetched",
  channels: "channels of web sign-in",
  discards: "KiB of refused bodies that are read",
  chunks: "KiB of bodies without a Content-Length",
  refusals: "refusals that are sent at once",
};

/** Returns the table in docs/operate/capacity.md of what one client, and all clients, may use. */
export function clientSharesTable(): string {
  const rows = [
    ["resource", "one client", "all clients"],
    ...Object.entries<BudgetTerms>(BUDGETS).map(([name, terms]) => [
      `${terms.unit} (\`${name}\`)`,
      size(terms.unit, terms.perClient),
      ofAll(terms),
    ]),
    [
      "requests that wait for their turn, per thread",
      number(WAITING_REQUESTS.perClient),
      ofAll(WAITING_REQUESTS),
    ],
    ...Object.entries(TURNS).map(([name, { unit, running, waiting, perClient }]) => [
      `${unit} at a time (\`${name}\`), per thread`,
      `${number(perClient.running)}, ${number(perClient.waiting)} wait`,
      `${number(running)}, ${number(waiting)} wait`,
    ]),
    ...Object.entries(SHARES).map(([name, { perMinute, burst }]) => [
      SPENT[name as ShareName],
      `${number(burst)} at once, then ${number(perMinute)} a minute`,
      "no bound",
    ]),
  ];
  const widths = [0, 1, 2].map((at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" | ")} |`;
  const [head = [], ...body] = rows;
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...body.map(line)].join("\n");
}

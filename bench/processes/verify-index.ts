/**
 * The verification of an index, in a separate process. Arguments: the checkout whose code verifies, and the path of the index.
 * Prints a JSON object with what it took.
 */
import { join } from "node:path";
import { costs, costsSince } from "./stage-costs.ts";

const [checkout = "", path = ""] = process.argv.slice(2);
const { verifyIndex } = await import(join(checkout, "src/db/index/verify/verify.ts"));
const before = costs();
verifyIndex(path);
process.stdout.write(`${JSON.stringify(costsSince(before))}\n`);

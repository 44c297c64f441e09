import { isObject, type Json } from "../../../src/http/openapi/document.ts";
import type { OperationExample } from "../../../src/http/openapi/examples.ts";
import { startDemoNode } from "../../support/demo-node.ts";
import { until } from "../../support/manual-time.ts";
import { tempDir } from "../../support/program.ts";
import { shortened } from "./operations.ts";

/** A response that is an error has none of these. */
interface NodeStatus {
  readonly unavailable?: readonly string[];
  readonly maintenance?: { readonly runs: number } | null;
}

/** Whether every part has reported, and the first sweep, which counts deletions, has finished. */
const isComplete = ({ unavailable, maintenance }: NodeStatus) =>
  unavailable?.length === 0 && (maintenance?.runs ?? 0) > 0;

type Examples = Readonly<Record<string, OperationExample>>;

/**
 * `/health`, `/ready` and `/status` of a real node with the demo network. Counts and sizes differ between runs, so a known
 * example is retained while it has the keys and types of the new one.
 */
export async function opsExamples(known: Examples): Promise<Record<string, OperationExample>> {
  using dir = tempDir();
  const node = await startDemoNode({ dataDir: `${dir.path}/data` });
  try {
    const paths = { getHealth: "/health", getReadiness: "/ready", getStatus: "/status" };
    const get = async (path: string) => shortened((await (await fetch(node.url + path)).json()) as Json);
    await until(async () => isComplete((await get("/status")) as unknown as NodeStatus));
    const examples: Record<string, OperationExample> = {};
    for (const [id, path] of Object.entries(paths)) {
      const body = await get(path);
      const old = known[id]?.responses["200"];
      const isSame = old !== undefined && JSON.stringify(shapeOf(old)) === JSON.stringify(shapeOf(body));
      examples[id] = { responses: { 200: isSame ? old : body } };
    }
    return examples;
  } finally {
    await node.stop();
  }
}

/** Null and a number are one type: most times in `/status` are null at first. */
function shapeOf(value: Json): Json {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf);
  if (!isObject(value)) return value === null ? "number" : typeof value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shapeOf(item)]));
}

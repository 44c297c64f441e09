import { TypeCompiler } from "@sinclair/typebox/compiler";
import { describeValueError } from "../http/response/validation-message.ts";
import { ToolError } from "./node-call.ts";
import { renderText } from "./render.ts";
import type { Tool, ToolContext } from "./tool.ts";

/** How often a result is read again with fewer rows. */
const MAX_READS = 4;

/** The part of a `tools/call` result that this folder creates. */
export interface ToolResult {
  readonly content: { readonly type: "text"; readonly text: string }[];
  readonly structuredContent?: Record<string, unknown>;
  readonly isError?: true;
}

const checks = new WeakMap<Tool, ReturnType<typeof TypeCompiler.Compile>>();

/**
 * Runs a tool. A result of more than `maxBytes` of JSON is truncated after a whole item. If it has a cursor, it is read again with fewer
 * rows instead, so that the cursor follows the last returned item.
 */
export async function callTool(
  tool: Tool,
  args: Readonly<Record<string, unknown>>,
  context: ToolContext,
  maxBytes: number,
): Promise<ToolResult> {
  const check = checks.get(tool) ?? TypeCompiler.Compile(tool.input);
  checks.set(tool, check);
  const fault = check.Errors(args).First();
  try {
    if (fault !== undefined) throw new ToolError(describeValueError(fault));
    return await fitting(tool, args, context, maxBytes);
  } catch (error) {
    if (error instanceof ToolError) return refusal(error.message);
    if (context.isAborted()) return refusal("the call took too long, or its client has gone");
    throw error;
  }
}

const refusal = (text: string): ToolResult => ({ content: [{ type: "text", text }], isError: true });

async function fitting(
  tool: Tool,
  args: Readonly<Record<string, unknown>>,
  context: ToolContext,
  maxBytes: number,
): Promise<ToolResult> {
  let result = (await tool.run(args as never, context)) as Record<string, unknown>;
  for (let reads = 1; reads <= MAX_READS; reads += 1) {
    const whole = resultOf(tool, result);
    if (bytesOf(whole) <= maxBytes) return whole;
    const items = tool.list === undefined ? [] : (result[tool.list] as readonly unknown[]);
    const cut = (count: number) => ({ ...result, [tool.list ?? ""]: items.slice(0, count), truncated: true });
    const count = largest(items.length, (some) => bytesOf(resultOf(tool, cut(some))) <= maxBytes);
    if (count === 0) break;
    if (!tool.isPaged) return resultOf(tool, cut(count));
    const read = (await tool.run({ ...args, limit: count } as never, context)) as Record<string, unknown>;
    result = { ...read, truncated: true };
  }
  throw new ToolError("the result is larger than mcp.max_result_bytes of this node");
}

/** Returns the largest count below `total` that fits; 0 if none does. */
function largest(total: number, fits: (count: number) => boolean): number {
  let [low, high] = [0, Math.max(0, total - 1)];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

function resultOf({ isOwnText }: Tool, result: Record<string, unknown>): ToolResult {
  return { content: [{ type: "text", text: renderText(result, isOwnText) }], structuredContent: result };
}

const bytesOf = (result: ToolResult) => Buffer.byteLength(JSON.stringify(result));

import { type Static, type TObject, type TProperties, Type } from "@sinclair/typebox";
import { type NodeCall, ToolError } from "./node-call.ts";

/** Rows of a result. */
const DEFAULT_ROWS = 10;
const MAX_ROWS = 25;
/** Reads of one call. Further pages that a filter empties are left to the next call. */
const MAX_PAGES = 5;
const MAX_CURSOR_CHARS = 512;
const MAX_MESSAGE_CHARS = 300;
const HTTP_OK = 200;

/** What a tool reads with. */
export interface ToolContext {
  /** Reads a path of the native API. @throws ToolError with the node's message for another status than 200 */
  readonly get: <T>(path: string, query?: Query) => Promise<T>;
  /** Reads a path from the root. @throws as `get` */
  readonly getRoot: <T>(path: string) => Promise<T>;
  /** The console's page of a path such as `/people/1`. */
  readonly pageUrl: (path: string) => string;
  /** Whether the time of the call is over, or its client has disconnected. */
  readonly isAborted: () => boolean;
}

type Query = Readonly<Record<string, string | number | undefined>>;

/** A tool as it runs. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: TObject;
  readonly output: TObject;
  /** The field of the result that is cut where the result is too large. */
  readonly list: string | undefined;
  /** Whether `limit` of its arguments bounds that list, and the cursor follows it. */
  readonly isPaged: boolean;
  /** Whether all its texts are this program's. */
  readonly isOwnText: boolean;
  readonly run: (args: never, context: ToolContext) => Promise<object>;
}

/** The fields of every result. */
interface Outcome {
  readonly truncated: boolean;
  readonly content_is_untrusted: true;
}

interface ToolSpec<I extends TProperties, O extends TProperties> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: I;
  readonly output: O;
  readonly list?: keyof O & string;
  readonly isPaged?: boolean;
  readonly isOwnText?: boolean;
  readonly run: (args: Static<TObject<I>>, context: ToolContext) => Promise<Static<TObject<O>> & Outcome>;
}

const closed = { additionalProperties: false } as const;

/** Declares a tool. Its name and description are constants of the program: no text of the network is in them. */
export function tool<I extends TProperties, O extends TProperties>(spec: ToolSpec<I, O>): Tool {
  const { list, isPaged = false, isOwnText = false, run } = spec;
  return {
    ...spec,
    list,
    isPaged,
    isOwnText,
    input: Type.Object(spec.input as TProperties, closed),
    output: Type.Object(
      {
        ...(spec.output as TProperties),
        truncated: Type.Boolean({ description: "Whether the result was cut at a whole item" }),
        content_is_untrusted: Type.Literal(true),
      },
      closed,
    ),
    run: run as Tool["run"],
  };
}

/** The arguments of a tool with pages. */
export const paging = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_ROWS, default: DEFAULT_ROWS })),
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: MAX_CURSOR_CHARS,
      description: "`cursor` of the result before",
    }),
  ),
};

export const Cursor = Type.Union([Type.String(), Type.Null()]);
export const Fid = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });

interface Paging {
  readonly limit?: number;
  readonly cursor?: string;
}

/** A page of the native API. */
export type Page<Key extends string, Row> = Readonly<Record<Key, readonly Row[]>> & {
  readonly next: { readonly cursor: string | null };
};

/**
 * Collects rows of a list that a filter keeps, and the cursor after the last one. It asks for no more rows than it still needs, so that the
 * cursor never passes a row that was not returned.
 *
 * @param read reads a page
 */
export async function collect<Row>(
  { limit = DEFAULT_ROWS, cursor }: Paging,
  read: (page: {
    limit: number;
    cursor: string | undefined;
  }) => Promise<readonly [readonly Row[], string | null]>,
  keeps: (row: Row) => boolean = () => true,
): Promise<{ readonly rows: readonly Row[]; readonly cursor: string | null }> {
  const kept: Row[] = [];
  let next: string | null | undefined = cursor;
  for (let pages = 0; pages < MAX_PAGES && kept.length < limit && next !== null; pages += 1) {
    const [rows, after] = await read({ limit: limit - kept.length, cursor: next });
    kept.push(...rows.filter(keeps));
    next = after;
  }
  return { rows: kept, cursor: next ?? null };
}

/** Creates what a tool reads with. */
export function createToolContext(
  call: NodeCall,
  { basePath, pageUrl, signal }: { basePath: string; pageUrl: (path: string) => string; signal: AbortSignal },
): ToolContext {
  async function read<T>(path: string, query: Query = {}): Promise<T> {
    signal.throwIfAborted();
    const given = Object.entries(query).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)] as const],
    );
    const { status, body } = await call({ path, query: Object.fromEntries(given), signal });
    if (status !== HTTP_OK) throw new ToolError(`${status}: ${messageOf(body)}`);
    return body as T;
  }
  return {
    get: (path, query) => read(basePath + path, query),
    getRoot: (path) => read(path),
    pageUrl,
    isAborted: () => signal.aborted,
  };
}

function messageOf(body: unknown): string {
  const hasMessage = typeof body === "object" && body !== null && "message" in body;
  const message = hasMessage && typeof body.message === "string" ? body.message : "no message";
  return message.replaceAll(/[\p{C}]/gu, " ").slice(0, MAX_MESSAGE_CHARS);
}

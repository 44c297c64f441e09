import { type Static, type TObject, type TProperties, Type } from "@sinclair/typebox";
import { object } from "../api/dialects/fields.ts";
import type { ConfirmTokens } from "./confirm-tokens.ts";
import { type NodeCall, type NodeResponse, ToolError } from "./node-call.ts";

/** Number of rows in a result. */
const DEFAULT_ROWS = 10;
const MAX_ROWS = 25;
/** Maximum number of reads per call. If a filter empties these pages, the next call continues. */
const MAX_PAGES = 5;
const MAX_CURSOR_CHARS = 512;
const MAX_MESSAGE_CHARS = 300;
const HTTP_OK = 200;
const HTTP_ACCEPTED = 202;

/** What a tool reads with. */
export interface ToolContext {
  /**
   * Reads a path of the native API.
   *
   * @throws ToolError with the node's message if the status is not 200.
   */
  readonly get: <T>(path: string, query?: Query) => Promise<T>;
  /**
   * Reads an absolute path.
   *
   * @throws as `get`.
   */
  readonly getRoot: <T>(path: string) => Promise<T>;
  /** Set if the caller may write. */
  readonly writes: WriteContext | undefined;
  /** Returns the URL of a console page from its path, such as `/people/1`. */
  readonly pageUrl: (path: string) => string;
  /** Reports whether the call has timed out or its client has disconnected. */
  readonly isAborted: () => boolean;
}

/** What a tool writes with. */
export interface WriteContext {
  /**
   * Sends a request to a path of the compat API.
   *
   * @throws ToolError with the node's message if the status is neither 200 nor 202.
   */
  readonly send: (
    method: "POST" | "DELETE",
    path: string,
    body: Readonly<Record<string, unknown>>,
  ) => Promise<NodeResponse>;
  readonly tokens: ConfirmTokens;
  /** Name of the header with the hashes of the written messages. */
  readonly hashHeader: string;
}

/** How the caller of tools writes. */
export interface WriteSettings extends Pick<WriteContext, "tokens" | "hashHeader"> {
  /** Path of the compat API, such as `/v2/farcaster`. */
  readonly compatPath: string;
}

type Query = Readonly<Record<string, string | number | undefined>>;

/** A tool that can be run. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: TObject;
  readonly output: TObject;
  /** Field of the result that is truncated if the result is too large. */
  readonly list: string | undefined;
  /** Whether the argument `limit` bounds that list, and the cursor follows it. */
  readonly isPaged: boolean;
  /** Whether all of its texts are written by this program. */
  readonly isOwnText: boolean;
  /** What it writes. Undefined for a read. */
  readonly write: { readonly isDestructive: boolean } | undefined;
  readonly run: (args: never, context: ToolContext) => Promise<object>;
}

/** Fields of every result. */
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
  readonly write?: Tool["write"];
  readonly run: (args: Static<TObject<I>>, context: ToolContext) => Promise<Static<TObject<O>> & Outcome>;
}

/** Declares a tool. Its name and description are constants of the program and contain no text from the network. */
export function tool<I extends TProperties, O extends TProperties>(spec: ToolSpec<I, O>): Tool {
  const { list, isPaged = false, isOwnText = false, write, run } = spec;
  return {
    ...spec,
    list,
    isPaged,
    isOwnText,
    write,
    input: object(spec.input as TProperties),
    output: object({
      ...(spec.output as TProperties),
      truncated: Type.Boolean({ description: "Whether the result was cut at a whole item" }),
      content_is_untrusted: Type.Literal(true),
    }),
    run: run as Tool["run"],
  };
}

/** Arguments of a tool with pages. */
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
 * Collects the rows of a list that pass a filter, and the cursor after the last one. Requests no more rows than it still needs, so that the
 * cursor never skips a row that was not returned.
 *
 * @param read reads a page.
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

export function createToolContext(
  call: NodeCall,
  {
    basePath,
    pageUrl,
    signal,
    writes,
  }: {
    readonly basePath: string;
    readonly pageUrl: (path: string) => string;
    readonly signal: AbortSignal;
    readonly writes?: WriteSettings | undefined;
  },
): ToolContext {
  async function read<T>(path: string, query: Query = {}): Promise<T> {
    signal.throwIfAborted();
    const given = Object.entries(query).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)] as const],
    );
    const { status, body } = await call({ path, query: Object.fromEntries(given), signal });
    if (status !== HTTP_OK) throw refusalOf(status, body);
    return body as T;
  }
  return {
    get: (path, query) => read(basePath + path, query),
    getRoot: (path) => read(path),
    pageUrl,
    isAborted: () => signal.aborted,
    writes: writes && {
      ...writes,
      async send(method, path, body) {
        signal.throwIfAborted();
        const response = await call({ method, path: writes.compatPath + path, query: {}, body, signal });
        const { status } = response;
        if (status !== HTTP_OK && status !== HTTP_ACCEPTED) throw refusalOf(status, response.body);
        return response;
      },
    },
  };
}

function refusalOf(status: number, body: unknown): ToolError {
  const hasMessage = typeof body === "object" && body !== null && "message" in body;
  const message = hasMessage && typeof body.message === "string" ? body.message : "no message";
  return new ToolError(`${status}: ${message.replaceAll(/[\p{C}]/gu, " ").slice(0, MAX_MESSAGE_CHARS)}`);
}

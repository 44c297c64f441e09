import { type SignedOperation, signedOperations } from "../auth/op-table.ts";
import { UserError } from "../lib/failure.ts";

const operations: readonly SignedOperation[] = Object.values(signedOperations);
const opNames = [...new Set(operations.map(({ op }) => op))];

/**
 * The name of the operation that a request is signed for: the named one, or the one of its method and path.
 *
 * @param request.path a path or URL, with or without the base path, with any number of slashes.
 * @throws UserError when there is no such signed operation.
 */
export function opFor(request: {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly op: string | undefined;
  /** `/v2/<service>`. */
  readonly basePath: string;
}): string {
  const { method, path, op, basePath } = request;
  if (op !== undefined) {
    if (method !== undefined) throw new UserError("give either --op or a method and a path");
    if (!opNames.includes(op))
      throw new UserError(`no signed operation ${JSON.stringify(op)}; there are ${opNames.join(", ")}`);
    return op;
  }
  if (method === undefined || path === undefined) throw new UserError("give a method and a path, or --op");
  const requested = pathWithin(path, basePath);
  const found = operations.find((known) => known.method === method.toUpperCase() && known.path === requested);
  if (found === undefined) {
    const known = operations.map(
      (operation) => `  ${operation.method.padEnd(6)} ${basePath}${operation.path}`,
    );
    throw new UserError(
      `${JSON.stringify(`${method} ${path}`)} is not a signed request; these are\n${known.join("\n")}`,
    );
  }
  return found.op;
}

function pathWithin(path: string, basePath: string): string {
  const [pathname = ""] = path.replace(/^https?:\/\/[^/]*/i, "").split(/[?#]/, 1);
  const collapsed = `/${pathname}/`.replaceAll(/\/{2,}/g, "/").slice(0, -1);
  // A proxy may add a prefix.
  const start = `${collapsed}/`.indexOf(`${basePath}/`);
  return start === -1 ? collapsed : collapsed.slice(start + basePath.length);
}

import type { Command } from "commander";
import { operations as signed } from "../../../client/src/operations.generated.ts";
import { UserError } from "../../lib/failure.ts";
import type { CommandContext } from "../context.ts";
import { readInput } from "../input.ts";
import { print } from "../output.ts";
import { openSigner, type SignerOptions, withSignerOptions } from "./options.ts";

/** Maximum size of a signed request's body. */
const MAX_BODY_BYTES = 256 * 1024;

interface SignOptions extends SignerOptions {
  readonly op?: string;
  readonly body?: string;
  readonly json?: boolean;
}

/** `sign`: prints the headers of one signed request, for curl and other tools. */
export function registerSign(program: Command, context: CommandContext): void {
  const command = program
    .command("sign")
    .description(
      "print the headers of a signed request, valid for one use: … | curl -H @- --data-binary @body.json …",
    )
    .argument("[method]", "GET, POST, PUT, PATCH or DELETE")
    .argument("[path]", "path or URL of the request; a query is not signed");
  withSignerOptions(command)
    .option("--op <op>", "name of the operation, such as app.create, instead of method and path")
    .option("--body <file>", 'file with the body, byte for byte as it will be sent; "-" reads standard input')
    .option("--json", "print a JSON object")
    .action(async (method: string | undefined, path: string | undefined, options: SignOptions) => {
      const { nowSecs, systemClock } = await import("../../runtime/clock.ts");
      const { signOperation } = await import("../../auth/typed-data.ts");
      const { signer } = await openSigner(context, options);
      const op = opFor({ method, path, op: options.op, basePath: signer.names.basePath });
      const body =
        options.body === undefined ? new Uint8Array() : await readInput(options.body, MAX_BODY_BYTES);
      const signed = await signOperation({ ...signer, op, body, signedAt: nowSecs(systemClock) });
      const headers = { ...signed, ...(body.length > 0 ? { "Content-Type": "application/json" } : {}) };
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\n`);
      print(options.json ? `${JSON.stringify(headers, null, 2)}\n` : lines.join(""));
    });
}

const operations = Object.entries(signed).map(([request, op]) => {
  const [method = "", path = ""] = request.split(" ");
  return { method, path, op };
});
const opNames = [...new Set(operations.map(({ op }) => op))];

/**
 * Returns the name of the operation for which a request is signed: the given one, or the one of its method and path.
 *
 * @param request.path a path or URL, with or without the base path, with any number of slashes.
 * @throws UserError if there is no such signed operation.
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

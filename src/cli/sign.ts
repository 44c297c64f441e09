import type { Command } from "commander";
import type { CommandContext } from "./context.ts";
import { readInput } from "./input.ts";
import { opFor } from "./management-op.ts";
import { openSigner, type SignerOptions, withSignerOptions } from "./management-options.ts";
import { print } from "./output.ts";

/** The largest body of a signed request. */
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
      const { nowSecs, systemClock } = await import("../runtime/clock.ts");
      const { signOperation } = await import("./client/sign-operation.ts");
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

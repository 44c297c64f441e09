import type { Command } from "commander";
import { UserError } from "../../lib/failure.ts";
import { isoTime } from "../../lib/iso-time.ts";
import { parseJson } from "../../lib/json.ts";
import type { CommandContext } from "../context.ts";
import { print, printError } from "../output.ts";

const NOT_FOUND = 404;

/** `quick-auth rotate`: rotates the keys that sign sign-in tokens. */
export function registerQuickAuth(program: Command, context: CommandContext): void {
  const quickAuth = program.command("quick-auth").description("manage the keys of sign-in tokens");
  quickAuth
    .command("rotate")
    .description("create the next key that signs tokens; verifiers get it 20 minutes before it signs")
    .argument(
      "[url]",
      "base URL of the node (default: that of the data directory, else the address in the settings)",
    )
    .option("--now", "after a leak: delete all keys, so that earlier tokens are refused")
    .action(async (url: string | undefined, { now = false }: { readonly now?: boolean }) => {
      const { exchange, messageOf } = await import("./client.ts");
      const { Type } = await import("@sinclair/typebox");
      const { Value } = await import("@sinclair/typebox/value");
      const { operatorOf } = await import("./operator.ts");
      const { base, token } = await operatorOf(context, url);
      const path = base.pathname.replace(/\/+$/, "");
      const { status, text } = await exchange(new URL(`${path}/console/op/quick-auth/rotate`, base), {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify({ now }),
      });
      const response = parseJson(text);
      const rotated = Type.Object({
        kid: Type.String({ pattern: "^[\\w-]{1,64}$" }),
        signs_at: Type.Integer(),
      });
      if (status === NOT_FOUND)
        throw new UserError(
          `${base.origin} has no operator's page: console.enabled or console.operator is false`,
        );
      if (status < 200 || status > 299) throw new UserError(`${status}: ${messageOf(response, text)}`);
      if (!Value.Check(rotated, response))
        throw new UserError(`${base.origin} is not a node with Quick Auth`);
      const { kid, signs_at: signsAt } = response;
      print(`${kid}\n`);
      printError(
        now
          ? "The new key is in use. The node refuses earlier tokens; other verifiers may cache the previous keys for 10 minutes.\n"
          : `The key signs from ${isoTime(signsAt)} on.\n`,
      );
    });
}

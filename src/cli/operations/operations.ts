import type { Command } from "commander";
import { commands } from "../../../client/src/commands.generated.ts";
import type { CommandFlag } from "../../api/command.ts";
import { UserError } from "../../lib/failure.ts";
import { printable } from "../../lib/text.ts";
import type { Parameters } from "../client/client.ts";
import { type CallOptions, openClient, withCallOptions } from "../client/options.ts";
import type { CommandContext } from "../context.ts";
import { print, printError } from "../output.ts";
import { addFlag, type Fields, fieldsOf } from "./flags.ts";
import { type CommandId, HANDLERS } from "./handlers.ts";
import { memberOf, responseJson } from "./table.ts";

/** The command of an operation, from the operation's declaration. */
interface OperationCommand {
  readonly id: CommandId;
  readonly usage: string;
  readonly help: string;
  /** The fields that are sent in the query. */
  readonly query: readonly string[];
  readonly flags: Readonly<Record<string, CommandFlag>>;
}

const GROUPS: Readonly<Record<string, string>> = {
  app: "manage the mini apps of an fid, on this or another node",
  "api-key": "manage the API keys of an fid, on this or another node",
  webhook: "manage the webhooks of an fid, on this or another node",
  signer: "manage signers: users' keys that a node stores sealed and signs with",
  channel: "manage the registered channels that an fid follows",
  address: "manage the verified addresses of an fid",
  bans: "manage the users banned from the app of an fid, on this or another node",
  "login-client": "manage apps whose visitors sign in on the login page of a node",
  "notice-channel": "manage notice channels for the webhooks, keys, signers and sends of an fid",
  session: "manage the sessions of an fid: page keys that sign requests for a while",
};

/** The commands that call signed operations, on any node. */
export function registerOperations(program: Command, context: CommandContext): void {
  const groups = new Map(
    Object.entries(GROUPS).map(([name, help]) => [name, program.command(name).description(help)]),
  );
  for (const operation of commands as readonly OperationCommand[]) {
    const [first = "", ...rest] = operation.usage.split(" ");
    const group = groups.get(first);
    addOperation(group ?? program, context, operation, group ? rest : [first, ...rest]);
  }
}

function addOperation(
  parent: Command,
  context: CommandContext,
  operation: OperationCommand,
  [name = "", ...usage]: readonly string[],
): void {
  const { id, help, flags, query } = operation;
  const handler = HANDLERS[id];
  const command = withCallOptions(parent.command(name).description(help));
  for (const argument of usage) command.argument(argument);
  for (const [field, flag] of Object.entries(flags)) addFlag(command, field, flag);
  handler.options?.(command);

  command.action(async (...input: readonly unknown[]) => {
    const values = usage.map((argument, index) => [argument.slice(1, -1), input[index]] as const);
    const options = input[usage.length] as CallOptions & Fields;
    const given = Object.fromEntries(values.filter(([, value]) => value !== undefined));
    const named = fieldsOf(flags, options);
    const fields: Fields = { ...given, ...named, ...(await handler.fields?.(options, given)) };
    if (name === "update" && Object.keys(fields).length === usage.length)
      throw new UserError("nothing to change: set at least one field (see --help)");
    const client = await openClient(context, options);
    if ("run" in handler) return handler.run(client, fields, options);
    if (!options.json) await handler.before?.(client, fields);
    const response = await client.call(id, parametersOf(fields, query));
    if (options.json) return print(responseJson(response));
    await handler.after?.(client, response);
    const text = handler.print(response, { ...options, ...given });
    if (handler.secret === undefined) return print(text);
    // Standard output contains only the secret, so that it can be redirected to a file.
    printError(text);
    print(`${printable(String(memberOf(response, handler.secret)))}\n`);
  });
}

/** Puts the fields where the operation expects them: in the query as text, or in the body. */
function parametersOf(fields: Fields, inQuery: readonly string[]): Parameters {
  const entries = Object.entries(fields);
  const query = entries
    .filter(([name]) => inQuery.includes(name))
    .map(([name, value]) => [name, String(value)]);
  const body = entries.filter(([name]) => !inQuery.includes(name));
  return {
    query: Object.fromEntries(query),
    ...(body.length > 0 && { body: Object.fromEntries(body) }),
  };
}

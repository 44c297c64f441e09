import type { RecordField, RecordFields } from "../management/record-fields.ts";

/** A flag of a command. Without `flag`, its name is that of its field. */
export interface CommandFlag extends Omit<RecordField, "type"> {
  readonly type: RecordField["type"] | "fid" | "time" | "timeAhead";
  /** The value that a switch sets. Default: true. */
  readonly value?: string;
  /** The value sent if the flag is omitted. */
  readonly fallback?: string;
  /** The object of the body that contains the field. */
  readonly within?: string;
}

/**
 * The `svc` command that calls a signed operation. `client/generator/commands.ts` extracts it as data for the command line and the
 * console.
 */
export interface OperationCommand {
  /** The words of the command and the fields that it takes as arguments, as in `webhook delivery <webhook_id> <message_id>`. */
  readonly usage: string;
  /** For `--help`. */
  readonly help: string;
  /** The fields of a record in the body. */
  readonly fields?: RecordFields;
  /** Flags that differ from their fields' declarations in the query or the body; false for no flag. */
  readonly flags?: Readonly<Record<string, CommandFlag | false>>;
}

import type { RecordField, RecordFields } from "../management/record-fields.ts";

/** A flag of a command; without `flag` it has the name of its field. */
export interface CommandFlag extends Omit<RecordField, "type"> {
  readonly type: RecordField["type"] | "fid" | "time" | "timeAhead";
  /** What a switch stands for, if it is not true. */
  readonly value?: string;
  /** What is sent without the flag. */
  readonly fallback?: string;
  /** The object of the body that has the field. */
  readonly within?: string;
}

/** The `svc` command that calls a signed operation. `client/generator/commands.ts` makes data of it for the command line and the console. */
export interface OperationCommand {
  /** The words of the command and the fields that it takes without a flag, as in `webhook delivery <webhook_id> <message_id>`. */
  readonly usage: string;
  /** For `--help`. */
  readonly help: string;
  /** The fields of a record in the body. */
  readonly fields?: RecordFields;
  /**
   * Flags that differ from what the query and the body say about their fields; false for none.
   */
  readonly flags?: Readonly<Record<string, CommandFlag | false>>;
}

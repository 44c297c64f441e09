/**
 * Fields of records that their owners set, each declared once: request bodies (`request-schema.ts`), flags of commands
 * (`src/cli/operations/flags.ts`) and their names in the program are derived from them. They are plain data, so that the command line
 * starts without schemas.
 */

import { type CamelCase, camelCase } from "../db/state/table.ts";

/** Types of values in a body. */
interface Values {
  text: string;
  url: string;
  whole: number;
  boolean: boolean;
  texts: string[];
  fids: number[];
}

export interface RecordField {
  readonly type: keyof Values;
  /** For the OpenAPI document. */
  readonly description?: string;
  /** For `--help`. Default: the description. */
  readonly help?: string;
  /** Minimum number of characters, or the smallest number. */
  readonly min?: number;
  readonly max?: number;
  /** For `texts`: the allowed values, at least one of which is required. */
  readonly choices?: readonly string[];
  /** For `fids`. */
  readonly maxItems?: number;
  readonly isRequired?: boolean;
  /** Effect of null, which clears the field. */
  readonly nullHelp?: string;
  /** For a boolean: effect of turning it off. */
  readonly offHelp?: string;
  /** Whether only an update may set the field. */
  readonly isForUpdate?: boolean;
  /** For a boolean: whether "true" and "false" as text, which some clients send, are accepted. */
  readonly acceptsText?: boolean;
  /** Flag, if it is not the name with hyphens. */
  readonly flag?: string;
  /** Placeholder after the flag in `--help`. */
  readonly valueName?: string;
  /** Member of the record, if it is not the name in camel case. */
  readonly member?: string;
}

export type RecordFields = Readonly<Record<string, RecordField>>;

/** Value of a field in a body. */
export type FieldValue<F extends RecordField> =
  | (F extends { readonly choices: readonly (infer Choice)[] } ? Choice[] : Values[F["type"]])
  | (F extends { readonly nullHelp: string } ? null : never);

export const NAME = {
  type: "text",
  min: 1,
  max: 128,
  description: "Unicode characters",
  help: "1 to 128 characters",
  isRequired: true,
} as const satisfies RecordField;

type Required<F extends RecordFields> = {
  [Name in keyof F]: F[Name] extends { readonly isRequired: true } ? Name : never;
}[keyof F];
type ForUpdate<F extends RecordFields> = {
  [Name in keyof F]: F[Name] extends { readonly isForUpdate: true } ? Name : never;
}[keyof F];

/** Body that creates a record. */
export type CreateBody<F extends RecordFields> = {
  [Name in Required<F>]: FieldValue<F[Name]>;
} & { [Name in Exclude<keyof F, Required<F> | ForUpdate<F>>]?: FieldValue<F[Name]> };

/** Fields of a body that changes a record. */
export type UpdateBody<F extends RecordFields> = { [Name in keyof F]?: FieldValue<F[Name]> };

type MemberOf<F extends RecordFields, Name extends keyof F> = F[Name] extends {
  readonly member: infer Member extends string;
}
  ? Member
  : CamelCase<Name> & string;

type RequiredKeys<B> = { [Name in keyof B]-?: Absent extends Pick<B, Name> ? never : Name }[keyof B];
type Absent = Record<never, never>;

/** Members that an update sets. */
export type ChangedMembers<F extends RecordFields> = {
  [Name in keyof F as MemberOf<F, Name>]?: FieldValue<F[Name]>;
};

/** Members of a record that a body sets. */
type MembersOf<F extends RecordFields, B> = {
  [Name in keyof F & RequiredKeys<B> as MemberOf<F, Name>]: FieldValue<F[Name]>;
} & { [Name in Exclude<keyof F, RequiredKeys<B>> as MemberOf<F, Name>]?: FieldValue<F[Name]> };

/** Optional members of a new record. */
type UnsetMembers<F extends RecordFields> = {
  [Name in keyof F as F[Name] extends { readonly nullHelp: string } ? MemberOf<F, Name> : never]: FieldValue<
    F[Name]
  >;
};

/** Returns the members of a new record that its valid body sets or leaves out. Fields that only an update may set are skipped. */
export function newMembers<F extends RecordFields, B extends CreateBody<F>>(
  fields: F,
  body: B,
): MembersOf<Omit<F, ForUpdate<F>>, B> & UnsetMembers<F> {
  const settable = Object.fromEntries(
    Object.entries<RecordField>(fields).filter(([, { isForUpdate }]) => !isForUpdate),
  );
  const optional = Object.entries(settable).filter(([, { nullHelp }]) => nullHelp !== undefined);
  const unset = Object.fromEntries(optional.map(([name, field]) => [memberName(name, field), null]));
  return { ...unset, ...changedMembers(settable, body) } as MembersOf<Omit<F, ForUpdate<F>>, B> &
    UnsetMembers<F>;
}

/** Returns the members that a valid body changes, under the names of the record. */
export function changedMembers<F extends RecordFields>(fields: F, body: UpdateBody<F>): ChangedMembers<F> {
  const given = Object.entries<RecordField>(fields).flatMap(([name, field]) => {
    const value: unknown = body[name];
    if (value === undefined) return [];
    return [[memberName(name, field), field.acceptsText ? String(value) === "true" : value]];
  });
  return Object.fromEntries(given) as ChangedMembers<F>;
}

const memberName = (name: string, { member }: RecordField): string => member ?? camelCase(name);

/** @param help what the field describes. */
export const description = <const H extends string>(help: H) =>
  ({ type: "text", max: 10_000, help, nullHelp: "clear the description" }) as const satisfies RecordField;

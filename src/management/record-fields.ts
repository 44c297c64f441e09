/**
 * The fields of records that their owners set, each stated once: request bodies (`request-schema.ts`), flags of commands
 * (`src/cli/operations/flags.ts`) and their names in the program follow. This is data, so that a command line starts without schemas.
 */

import { type CamelCase, camelCase } from "../db/state/table.ts";

/** The types of values in a body. */
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
  /** For `--help`; default: the description. */
  readonly help?: string;
  /** Characters of a text; the smallest number. */
  readonly min?: number;
  readonly max?: number;
  /** Of `texts`: at least one of these. */
  readonly choices?: readonly string[];
  /** Of `fids`. */
  readonly maxItems?: number;
  readonly isRequired?: boolean;
  /** What null stands for, which clears the field. */
  readonly nullHelp?: string;
  /** For a boolean, what turning it off does. */
  readonly offHelp?: string;
  /** Whether only an update may set it. */
  readonly isForUpdate?: boolean;
  /** For a boolean, whether its texts count as well, which some clients send. */
  readonly acceptsText?: boolean;
  /** The flag, if it is not the name with hyphens. */
  readonly flag?: string;
  /** What follows the flag in `--help`. */
  readonly valueName?: string;
  /** The record's member, if it is not the name in camel case. */
  readonly member?: string;
}

export type RecordFields = Readonly<Record<string, RecordField>>;

/** The value of a field in a body. */
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

/** The body that creates a record. */
export type CreateBody<F extends RecordFields> = {
  [Name in Required<F>]: FieldValue<F[Name]>;
} & { [Name in Exclude<keyof F, Required<F> | ForUpdate<F>>]?: FieldValue<F[Name]> };

/** The fields of a body that changes a record. */
export type UpdateBody<F extends RecordFields> = { [Name in keyof F]?: FieldValue<F[Name]> };

type MemberOf<F extends RecordFields, Name extends keyof F> = F[Name] extends {
  readonly member: infer Member extends string;
}
  ? Member
  : CamelCase<Name> & string;

type RequiredKeys<B> = { [Name in keyof B]-?: Absent extends Pick<B, Name> ? never : Name }[keyof B];
type Absent = Record<never, never>;

/** What an update sets. */
export type ChangedMembers<F extends RecordFields> = {
  [Name in keyof F as MemberOf<F, Name>]?: FieldValue<F[Name]>;
};

/** The members of a record that a body sets. */
type MembersOf<F extends RecordFields, B> = {
  [Name in keyof F & RequiredKeys<B> as MemberOf<F, Name>]: FieldValue<F[Name]>;
} & { [Name in Exclude<keyof F, RequiredKeys<B>> as MemberOf<F, Name>]?: FieldValue<F[Name]> };

/** The optional members of a new record. */
type UnsetMembers<F extends RecordFields> = {
  [Name in keyof F as F[Name] extends { readonly nullHelp: string } ? MemberOf<F, Name> : never]: FieldValue<
    F[Name]
  >;
};

/** The members of a new record that its valid body sets or leaves out. What only an update may set does not count. */
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

/** The members that a valid body changes, by the record's names. */
export function changedMembers<F extends RecordFields>(fields: F, body: UpdateBody<F>): ChangedMembers<F> {
  const given = Object.entries<RecordField>(fields).flatMap(([name, field]) => {
    const value: unknown = body[name];
    if (value === undefined) return [];
    return [[memberName(name, field), field.acceptsText ? String(value) === "true" : value]];
  });
  return Object.fromEntries(given) as ChangedMembers<F>;
}

const memberName = (name: string, { member }: RecordField): string => member ?? camelCase(name);

/** @param help what it describes. */
export const description = <const H extends string>(help: H) =>
  ({ type: "text", max: 10_000, help, nullHelp: "clear the description" }) as const satisfies RecordField;

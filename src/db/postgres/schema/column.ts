import { bigint, customType } from "drizzle-orm/pg-core";

/** Fids, row ids, counts and times. No value exceeds 2^53 - 1. */
export const whole = (name: string) => bigint(name, { mode: "number" });

/** The order of creation of the rows of a table. A copy of the state brings its own values. */
export const sequence = (name: string) =>
  bigint(name, { mode: "number" }).primaryKey().generatedByDefaultAsIdentity();

export const bytes = customType<{ data: Uint8Array }>({ dataType: () => "bytea" });

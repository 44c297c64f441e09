/**
 * What drizzle cannot express, added after `drizzle-kit generate`: text is compared by its bytes, as in SQLite, whatever the
 * database's locale is; and the first migration ends with `drizzle/postgres/by-hand.sql`.
 *
 * No migration of PostgreSQL has been released. When the schema changes, delete `drizzle/postgres/0*.sql` and
 * `drizzle/postgres/meta`, and run `bun x drizzle-kit generate --config drizzle/postgres.config.ts --name init` and this script.
 */
const FOLDER = "drizzle/postgres";
const byHand = await Bun.file(`${FOLDER}/by-hand.sql`).text();

for await (const name of new Bun.Glob("0*.sql").scan(FOLDER)) {
  const path = `${FOLDER}/${name}`;
  const before = await Bun.file(path).text();
  const collated = before.replace(/^(\t"\w+" text)(?! COLLATE)(?=[ ,\n])/gm, '$1 COLLATE "C"');
  const isComplete = !name.startsWith("0000") || collated.includes(byHand.trim());
  const after = isComplete ? collated : `${collated.trimEnd()}\n--> statement-breakpoint\n${byHand}`;
  if (after !== before) await Bun.write(path, after);
}

/**
 * Drizzle cannot express WITHOUT ROWID, so this step after `drizzle-kit generate` adds it: every table with a composite
 * primary key becomes one b-tree in key order instead of a heap with a second tree.
 */
const glob = new Bun.Glob("drizzle/{index,state}/*.sql");
for await (const path of glob.scan(".")) {
  const before = await Bun.file(path).text();
  const after = before.replace(/(\n\tPRIMARY KEY\([^)]*\)\n\));/g, "$1 WITHOUT ROWID;");
  if (after !== before) await Bun.write(path, after);
}

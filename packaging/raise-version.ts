import { createHash } from "node:crypto";
import { join } from "node:path";

/** Digests of the migrations of each release, from the first release on. A released migration never changes. */
const RELEASED = "drizzle/released.json";
/** Both of its versions equal the one in package.json. */
const CHART = "packaging/helm/svc/Chart.yaml";

type Digests = Readonly<Record<string, string>>;

/**
 * Raises the version of a checkout: package.json, the chart, the heading of the changelog, and the list of released migrations.
 * @throws Error if the version is not higher, the changelog has no entries, or a released migration has changed
 */
export async function raiseVersion(
  root: string,
  { version, date }: { readonly version: string; readonly date: string },
): Promise<void> {
  const packagePath = join(root, "package.json");
  const packageText = await Bun.file(packagePath).text();
  const { version: current } = JSON.parse(packageText) as { version: string };
  const released = await readReleased(root);
  const isFirst = Object.keys(released).length === 0;
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Error(`not a version: ${version}`);
  const order = Bun.semver.order(version, current);
  if (order < 0 || (order === 0 && !isFirst)) throw new Error(`${version} is not higher than ${current}`);
  const changed = await changedMigrations(root);
  if (changed.length > 0) throw new Error(`migrations of a release have changed: ${changed.join(", ")}`);
  const changelogPath = join(root, "CHANGELOG.md");
  const changelog = await Bun.file(changelogPath).text();
  const heading = /^## .*unreleased.*$/im;
  if (!heading.test(changelog)) throw new Error("CHANGELOG.md has no section of unreleased changes");
  await Bun.write(changelogPath, changelog.replace(heading, `## ${version} (${date})`));
  await Bun.write(packagePath, packageText.replace(`"version": "${current}"`, `"version": "${version}"`));
  const chart = Bun.file(join(root, CHART));
  if (await chart.exists())
    await Bun.write(chart, (await chart.text()).replaceAll(/^((?:appV|v)ersion:) .*$/gm, `$1 ${version}`));
  await Bun.write(join(root, RELEASED), `${JSON.stringify(await digestsOf(root), null, 2)}\n`);
}

/** Returns the migrations of earlier releases that have changed or are missing. */
export async function changedMigrations(root: string): Promise<string[]> {
  const [released, now] = await Promise.all([readReleased(root), digestsOf(root)]);
  return Object.keys(released).filter((path) => now[path] !== released[path]);
}

async function readReleased(root: string): Promise<Digests> {
  const file = Bun.file(join(root, RELEASED));
  return (await file.exists()) ? file.json() : {};
}

async function digestsOf(root: string): Promise<Digests> {
  const paths = [...new Bun.Glob("drizzle/*/*.sql").scanSync(root)]
    .filter((path) => /\/\d{4}_[^/]+\.sql$/.test(path))
    .sort();
  const digests = await Promise.all(
    paths.map(async (path) => {
      const bytes = await Bun.file(join(root, path)).bytes();
      return [path, createHash("sha256").update(bytes).digest("hex")] as const;
    }),
  );
  return Object.fromEntries(digests);
}

import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { description, license, name } from "../package.json" with { type: "json" };
import { version } from "../src/version.ts";

const ROOT = join(import.meta.dir, "..");

/** A package in the lock file: `[name@version, registry, { dependencies… }, integrity]`. */
type LockedPackage = readonly [id: string, registry: string, info: LockedInfo, integrity?: string];

interface LockedInfo {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly optionalPeers?: readonly string[];
}

interface LockFile {
  readonly workspaces: Readonly<Record<string, { readonly dependencies?: Readonly<Record<string, string>> }>>;
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

/**
 * Returns the bill of materials of a release as CycloneDX 1.6 JSON: the packages that the program, including its page, is built from, as
 * pinned by the lock file; its icons; and Bun, which the executable contains. Packages that only tests and builds use are left out.
 */
export async function createSbom(options: {
  readonly timestamp: string;
  readonly repository?: string;
  readonly bugs?: string;
}): Promise<object> {
  const { timestamp, repository, bugs } = options;
  const externalReferences = [
    ...(repository ? [{ type: "vcs", url: repository }] : []),
    ...(bugs ? [{ type: "issue-tracker", url: bugs }] : []),
  ];
  const lock = Bun.JSONC.parse(await Bun.file(join(ROOT, "bun.lock")).text()) as LockFile;
  const components = shippedPackages(lock).map(([key, locked]) => componentOf(key, locked));
  const bun = {
    type: "platform",
    "bom-ref": `pkg:github/oven-sh/bun@${Bun.version}`,
    name: "bun",
    version: Bun.version,
    purl: `pkg:github/oven-sh/bun@${Bun.version}`,
    licenses: [{ license: { id: "MIT" } }],
  };
  // Icons of the page. Their paths are copied into its sources.
  const lucide = {
    type: "library",
    "bom-ref": "pkg:npm/lucide-static",
    name: "lucide-static",
    purl: "pkg:npm/lucide-static",
    licenses: [{ license: { id: "ISC" } }],
  };
  const serial = createHash("sha256")
    .update(JSON.stringify([version, components]))
    .digest("hex");
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    serialNumber: `urn:uuid:${serial.slice(0, 8)}-${serial.slice(8, 12)}-4${serial.slice(13, 16)}-8${serial.slice(17, 20)}-${serial.slice(20, 32)}`,
    version: 1,
    metadata: {
      timestamp,
      component: {
        type: "application",
        "bom-ref": `${name}@${version}`,
        name,
        version,
        description,
        licenses: [{ license: { id: license } }],
        ...(externalReferences.length > 0 && { externalReferences }),
      },
    },
    components: [...components, bun, lucide],
  };
}

/** Returns the packages that are reachable from the program's dependencies, without development dependencies. */
function shippedPackages(lock: LockFile): [string, LockedPackage][] {
  const found = new Map<string, LockedPackage>();
  const visit = (dependency: string, from: string): void => {
    const key = resolve(lock, dependency, from);
    const locked = key === undefined ? undefined : lock.packages[key];
    if (key === undefined || !locked || found.has(key)) return;
    found.set(key, locked);
    const { dependencies, optionalDependencies, peerDependencies, optionalPeers = [] } = locked[2];
    const peers = Object.keys(peerDependencies ?? {}).filter((peer) => !optionalPeers.includes(peer));
    for (const next of [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers])
      visit(next, key);
  };
  for (const dependency of Object.keys(lock.workspaces[""]?.dependencies ?? {})) visit(dependency, "");
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Returns the key that a dependency resolves to for a package: its own copy first, then those of the enclosing packages. */
function resolve(lock: LockFile, dependency: string, from: string): string | undefined {
  for (let scope = from; scope !== ""; scope = parentOf(lock, scope)) {
    const own = `${scope}/${dependency}`;
    if (own in lock.packages) return own;
  }
  return dependency in lock.packages ? dependency : undefined;
}

function parentOf(lock: LockFile, key: string): string {
  const parent = packagesIn(key).slice(0, -1).join("/");
  return parent === "" || parent in lock.packages ? parent : parentOf(lock, parent);
}

function componentOf(key: string, [id, , , integrity]: LockedPackage) {
  const at = id.lastIndexOf("@");
  const packageName = id.slice(0, at);
  const packageVersion = id.slice(at + 1);
  const purl = `pkg:npm/${packageName.replace(/^@/, "%40")}@${packageVersion}`;
  return {
    type: "library",
    "bom-ref": key === packageName ? purl : `${purl}#${key}`,
    name: packageName,
    version: packageVersion,
    purl,
    ...(integrity?.startsWith("sha512-")
      ? { hashes: [{ alg: "SHA-512", content: Buffer.from(integrity.slice(7), "base64").toString("hex") }] }
      : {}),
    ...licensesOf(key),
  };
}

/** Splits a key into package names, such as `ox/@noble/curves` into `ox` and `@noble/curves`. Each is nested in the previous one. */
const packagesIn = (key: string) => key.match(/@[^/]+\/[^/]+|[^/]+/g) ?? [];

/** Returns the license that the installed package states. Empty if it is not installed, such as a package for another platform. */
function licensesOf(key: string): { licenses?: object[] } {
  const file = join(ROOT, "node_modules", packagesIn(key).join("/node_modules/"), "package.json");
  if (!existsSync(file)) return {};
  const { license: stated } = JSON.parse(readFileSync(file, "utf8")) as { license?: unknown };
  if (typeof stated !== "string") return {};
  return { licenses: [/[\s(]/.test(stated) ? { expression: stated } : { license: { id: stated } }] };
}

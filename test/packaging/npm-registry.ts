import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { basename } from "node:path";

/** A registry for npm on the loopback address. It has the packages that are added or published. */
export interface NpmRegistry extends Disposable {
  readonly url: string;
  /** The names in the order in which they were added. */
  readonly names: readonly string[];
  /** Adds a package by the path of its archive. */
  add(file: string): void;
}

interface Version {
  readonly name: string;
  readonly version: string;
}

export function startNpmRegistry(): NpmRegistry {
  const packages = new Map<string, object>();
  const archives = new Map<string, Uint8Array>();
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    maxRequestBodySize: 512 * 1024 * 1024,
    async fetch(request) {
      const path = decodeURIComponent(new URL(request.url).pathname).slice(1);
      if (request.method === "PUT") {
        const { versions, _attachments: attached } = (await request.json()) as {
          readonly versions: Readonly<Record<string, Version>>;
          readonly _attachments: Readonly<Record<string, { readonly data: string }>>;
        };
        const [manifest] = Object.values(versions);
        const [archive] = Object.values(attached);
        if (!manifest || !archive) return new Response(null, { status: 400 });
        store(manifest, Buffer.from(archive.data, "base64"));
        return Response.json({ ok: true }, { status: 201 });
      }
      const archive = archives.get(basename(path));
      if (archive && path.startsWith("archives/")) return new Response(archive);
      const found = packages.get(path);
      return found ? Response.json(found) : Response.json({ error: "not_found" }, { status: 404 });
    },
  });
  const url = `http://127.0.0.1:${server.port}`;

  function store(manifest: Version, archive: Uint8Array): void {
    const { name, version } = manifest;
    const file = `${name.replace("/", "-")}-${version}.tgz`;
    const integrity = `sha512-${createHash("sha512").update(archive).digest("base64")}`;
    archives.set(file, archive);
    packages.set(name, {
      name,
      "dist-tags": { latest: version },
      versions: { [version]: { ...manifest, dist: { tarball: `${url}/archives/${file}`, integrity } } },
    });
  }

  return {
    url,
    get names() {
      return [...packages.keys()];
    },
    add(file) {
      const { stdout } = Bun.spawnSync(["tar", "-xzOf", file, "package/package.json"]);
      store(JSON.parse(stdout.toString()), readFileSync(file));
    },
    [Symbol.dispose]: () => void server.stop(true),
  };
}

import { expect, test } from "bun:test";
import { join } from "node:path";
import { ROOT } from "../support/documents.ts";
import { keptDirectory } from "../support/kept-files.ts";
import { IS_LONG } from "../support/long.ts";

/** Downloaded, so only the long form asks them: the linter of workflows, and a program that runs compose files. */
const ACTIONLINT = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.12";
const PODMAN_COMPOSE = "podman-compose==1.6.0";
const has = (tool: string) => IS_LONG && Bun.which(tool) !== null;

async function run(command: string[], env: Readonly<Record<string, string>> = {}) {
  const child = Bun.spawn(command, {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { code: await child.exited, out, errors };
}

async function mustRun(command: string[], env?: Readonly<Record<string, string>>): Promise<void> {
  const { code, errors } = await run(command, env);
  if (code !== 0) throw new Error(errors);
}

test("workflows name each action by the hash of a commit, with its version beside it", async () => {
  const uses: string[] = [];
  for await (const file of new Bun.Glob(".github/workflows/*.yml").scan({ cwd: ROOT, dot: true })) {
    const text = await Bun.file(join(ROOT, file)).text();
    uses.push(...[...text.matchAll(/\buses: (.+)$/gm)].map(([, action = ""]) => action));
  }
  expect(uses.length).toBeGreaterThan(8);
  expect(uses.filter((action) => !/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action))).toEqual([]);
});

test.skipIf(!has("go"))(
  "actionlint finds nothing in the workflows",
  async () => {
    const bin = await keptDirectory("actionlint-1.7.12", (into) =>
      mustRun(["go", "install", ACTIONLINT], { GOBIN: into, GOFLAGS: "-mod=mod" }),
    );
    const files = [...new Bun.Glob(".github/workflows/*.yml").scanSync({ cwd: ROOT, dot: true })];
    const { code, out } = await run([join(bin, "actionlint"), "-no-color", "-shellcheck=", ...files]);
    expect([files.length, out, code]).toEqual([3, "", 0]);
  },
  600_000,
);

test.skipIf(!has("python3"))(
  "podman-compose reads each compose file, and the template of Coolify",
  async () => {
    const packages = await keptDirectory("podman-compose-1.6.0", (into) =>
      mustRun(["python3", "-m", "pip", "install", "-q", "--target", into, PODMAN_COMPOSE]),
    );
    for (const file of ["compose.yaml", "compose.postgres.yaml", "packaging/templates/coolify.yaml"]) {
      const { code, out } = await run(["python3", "-m", "podman_compose", "-f", file, "config"], {
        PYTHONPATH: packages,
        UPSTREAM_URL: "http://snapchain.example:3383",
      });
      expect([file, code, out]).toEqual([file, 0, expect.stringMatching(/stop_grace_period: \d+s/)]);
    }
  },
  300_000,
);

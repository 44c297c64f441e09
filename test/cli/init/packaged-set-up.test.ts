import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, chownSync, cpSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { FarcasterNetwork } from "../../../src/protocol/wire/generated/message.ts";
import { makeChain } from "../../support/upstream/chain.ts";
import { UpstreamNode } from "../../support/upstream/node.ts";
import { UpstreamServer } from "../../support/upstream/server.ts";
import { emptyDir } from "../run.ts";
import type { SetUpReport } from "./set-up-in.ts";

const PACKAGED = join(import.meta.dir, "../../../packaging/svc.toml");
const TICKS = 25;
/** A user who owns nothing but the data directory, as that of the packages. */
const USER = 65_534;
const AS_USER = ["setpriv", `--reuid=${USER}`, `--regid=${USER}`, "--clear-groups"];
const canBeUser =
  process.getuid?.() === 0 &&
  ["setpriv", "unshare"].every((name) => Bun.which(name) !== null) &&
  Bun.spawnSync(["unshare", "-m", ...AS_USER, process.execPath, "--version"]).success &&
  Bun.spawnSync([...AS_USER, "test", "-r", PACKAGED]).success;

const nodes = [
  new UpstreamNode(makeChain("packaged1", TICKS)),
  new UpstreamNode(makeChain("packaged2", TICKS, FarcasterNetwork.FARCASTER_NETWORK_TESTNET)),
] as const;
const [mainnet, testnet] = [new UpstreamServer(nodes[0]), new UpstreamServer(nodes[1])];

beforeAll(async () => {
  for (const node of nodes) node.produce(TICKS);
  await Promise.all([mainnet.start(), testnet.start()]);
});
afterAll(() => Promise.all([mainnet.stop(), testnet.stop()]));

/**
 * Checks and applies a set-up with the settings file of the packages and the permissions of their unit: root's file, which every user may
 * read, and a data directory that only the user may enter. `prepare`: a shell command on the data directory, in a mount namespace of its own.
 */
async function setUp(dir: string, url: string, prepare = "true") {
  chmodSync(dir, 0o755);
  const [etc, data] = [`${dir}/etc`, `${dir}/data`];
  mkdirSync(etc, { mode: 0o755 });
  cpSync(PACKAGED, `${etc}/svc.toml`);
  chmodSync(`${etc}/svc.toml`, 0o644);
  mkdirSync(data, { mode: 0o700 });
  chownSync(data, USER, USER);
  const script = join(import.meta.dir, "set-up-in.ts");
  const child = Bun.spawn(
    [
      ...[
        "unshare",
        "-m",
        "sh",
        "-c",
        `cd ${data}; ${prepare}; cd /; "$@"; code=$?; ls -A ${data} >&2; exit $code`,
        "sh",
      ],
      ...[...AS_USER, process.execPath, script, dir, url, `${etc}/svc.toml`],
    ],
    {
      env: { PATH: process.env.PATH ?? "", HOME: data, BUN_RUNTIME_TRANSPILER_CACHE_PATH: "0" },
      stdout: "pipe",
      stderr: "pipe",
    },
  );
  const [out, left] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) throw new Error(left);
  // Those of the packages stay as they are in any case.
  expect(readdirSync(etc)).toEqual(["svc.toml"]);
  expect(readFileSync(`${etc}/svc.toml`, "utf8")).toBe(readFileSync(PACKAGED, "utf8"));
  return { ...(JSON.parse(out) as SetUpReport), left: left.split("\n").filter((name) => name !== "") };
}

const SECS = 120_000;

describe.skipIf(!canBeUser)("check 25: the set-up of a packaged node, as the user of its unit", () => {
  test(
    "goes into the data directory, and says why",
    async () => {
      using dir = emptyDir();
      const { note, files, refusal, left } = await setUp(dir.path, mainnet.url);
      expect(note).toBe(`${dir.path}/etc/svc.toml has a section [upstream] already`);
      expect(files).toEqual([`${dir.path}/data/settings.toml`]);
      expect({ refusal, left }).toEqual({ refusal: undefined, left: ["settings.toml"] });
      expect(readFileSync(`${dir.path}/data/settings.toml`, "utf8")).toContain(`url = "${mainnet.url}"`);
    },
    SECS,
  );

  test(
    "says what is wrong with the node to follow, and writes nothing",
    async () => {
      using web = Bun.serve({ port: 0, fetch: () => new Response("a page") });
      for (const [url, sentence] of [
        ["http://127.0.0.1:1", "does not respond"],
        [web.url.origin, "HTTP"],
        [testnet.url, "its messages are of testnet, and protocol.network is mainnet"],
      ] as const) {
        using dir = emptyDir();
        const { faults, refusal, left } = await setUp(dir.path, url);
        expect({ url, faults, refusal }).toEqual({
          url,
          faults: expect.arrayContaining([expect.stringContaining(sentence)]),
          refusal: expect.stringContaining(sentence),
        });
        expect([url, left]).toEqual([url, []]);
      }
    },
    SECS,
  );

  test.each([
    [
      "a full disk",
      "mount -t tmpfs -o size=64k,mode=777 none .; cd $PWD; dd if=/dev/zero of=filler bs=4k 2> /dev/null || true",
      "no space left on device",
    ],
    ["a disk that is mounted for reading", "mount -t tmpfs -o ro,mode=777 none .", "read-only file system"],
    ["a directory of another user", "chown 0:0 .; chmod 755 .", "permission denied"],
  ])(
    "says of %s that the settings cannot be written, and leaves no part of them",
    async (_, prepare, reason) => {
      using dir = emptyDir();
      const { faults, refusal, left } = await setUp(dir.path, mainnet.url, prepare);
      expect(faults).not.toEqual([]);
      expect(refusal).toContain("data/settings.toml cannot be written: ");
      expect(refusal).toContain(reason);
      expect(left.filter((name) => name !== "filler")).toEqual([]);
    },
    SECS,
  );
});

import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { MessageType } from "../../../src/protocol/wire/generated/message.ts";
import { compiledProgram } from "../../support/compiled-program.ts";
import { until } from "../../support/manual-time.ts";
import { signMessage } from "../../support/messages.ts";
import { accountRecords, accountSigner } from "../../support/node.ts";
import { startNode, tempDir } from "../../support/program.ts";
import { writeRecords } from "../../support/record-writer.ts";

/** The compiled program over an index with one cast, whose link leads to a name that does not exist (RFC 6761). */

const PERSON = 3;
const LINK = "https://nowhere.invalid/page";

function linkingCast(): Uint8Array {
  return signMessage(
    {
      type: MessageType.MESSAGE_TYPE_CAST_ADD,
      fid: PERSON,
      timestamp: Math.floor(Date.now() / 1000) - 1_609_459_200 - 60,
      body: {
        $case: "castAddBody",
        value: { text: "look", embeds: [{ embed: { $case: "url", value: LINK } }] },
      },
    },
    accountSigner(PERSON),
  );
}

async function indexWithLink(dir: string): Promise<void> {
  const file = `${dir}/records`;
  await writeRecords(file, [...accountRecords(PERSON), { kind: "message", bytes: linkingCast() }]);
  const { exitCode } = Bun.spawnSync([...compiledProgram, "import", file, "--data-dir", `${dir}/data`]);
  expect(exitCode).toBe(0);
}

const start = (dir: string, mode: string) =>
  startNode({
    command: compiledProgram,
    dataDir: `${dir}/data`,
    args: ["--set", `previews.mode=${mode}`, "--set", "service.compat_prefixes=farcaster"],
  });

const embedAt = async (url: string) => {
  const response = await fetch(`${url}/v2/farcaster/feed/user/casts?fid=${PERSON}`);
  const { casts } = (await response.json()) as { casts: { embeds: { metadata?: { _status: string } }[] }[] };
  return casts[0]?.embeds[0];
};
const statusAt = async (url: string) =>
  (await (await fetch(`${url}/status`)).json()) as { previews: { fetched: Record<string, number> } | null };

test("a node asks for pages where the operator says so, keeps how that ended, and reads do not wait", async () => {
  using dir = tempDir();
  await indexWithLink(dir.path);
  {
    await using off = await start(dir.path, "off");
    expect(await embedAt(off.url)).toEqual({ url: LINK } as never);
    expect((await statusAt(off.url)).previews).toBeNull();
    expect(existsSync(`${dir.path}/data/previews.db`)).toBe(false);
  }
  {
    await using on = await start(dir.path, "on_demand");
    expect((await embedAt(on.url))?.metadata?._status).toBe("PENDING");
    await until(async () => (await embedAt(on.url))?.metadata?._status === "FAILED");
    expect((await statusAt(on.url)).previews?.fetched).toMatchObject({ failed: 1, found: 0 });
  }
  await using again = await start(dir.path, "live");
  expect((await embedAt(again.url))?.metadata?._status).toBe("FAILED");
  expect((await statusAt(again.url)).previews?.fetched).toMatchObject({ failed: 0 });
}, 180_000);

import { expect, test } from "bun:test";
import { qrModules } from "../../../../src/console/web/manage/signers/qr.ts";

const link = (length: number) => `https://node.example/approve/${"aB3_".repeat(200)}`.slice(0, length);

test.each([
  [25, 25, "e36fe1296aeda1b7"],
  [80, 37, "846e1bf0acf95ecf"],
  [300, 69, "e76ccc7c5b459510"],
])("the code of a link of %d bytes is the one that a reader has read", (length, size, digest) => {
  const modules = qrModules(link(length)) ?? [];
  const bits = modules.map((row) => row.map(Number).join("")).join("\n");
  expect([modules.length, new Bun.CryptoHasher("sha256").update(bits).digest("hex").slice(0, 16)]).toEqual([
    size,
    digest,
  ]);
});

test("a text has a code up to 666 bytes, and none beyond", () => {
  expect(qrModules(link(666))?.length).toBe(97);
  expect(qrModules(link(667))).toBeUndefined();
});

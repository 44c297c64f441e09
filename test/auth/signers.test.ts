import { afterAll, beforeAll, expect, test } from "bun:test";
import { Wallet as EthersWallet, keccak256 as ethersKeccak } from "ethers";
import { registerEvent } from "../support/events.ts";
import { type SignedApi, startSignedApi } from "../support/signed-api.ts";
import { custodyWallet, opByRequest, randomNonce } from "../support/signing.ts";

let signed: SignedApi;
beforeAll(async () => {
  signed = await startSignedApi();
});
afterAll(() => signed[Symbol.asyncDispose]());

const method = "POST";
const path = "/frame/app/";

test("accepts viem's signature", async () => {
  const { status } = await signed.call({ method, path, body: { name: "V", app_url: "https://v.example" } });
  expect(status).toBe(200);
});

test("accepts ethers' signature", async () => {
  const body = JSON.stringify({ name: "Ethers", app_url: "https://e.example" });
  const message = {
    op: opByRequest["POST /frame/app"],
    fid: 3,
    signedAt: signed.nowSecs(),
    nonce: randomNonce(),
    requestHash: ethersKeccak(Buffer.from(body)),
  };
  const wallet = new EthersWallet(`0x${Buffer.from(custodyWallet(3).privateKey).toString("hex")}`);
  const signature = await wallet.signTypedData(
    { name: "Svc", version: "1", chainId: 10 },
    {
      SvcSignedOp: [
        { name: "op", type: "string" },
        { name: "fid", type: "uint64" },
        { name: "signedAt", type: "uint256" },
        { name: "nonce", type: "bytes32" },
        { name: "requestHash", type: "bytes32" },
      ],
    },
    message,
  );
  const { status } = await signed.send(
    { method, path, body },
    {
      "X-Svc-Fid": "3",
      "X-Svc-Op": "app.create",
      "X-Svc-Signed-At": String(message.signedAt),
      "X-Svc-Nonce": message.nonce,
      "X-Svc-Signature": signature,
    },
  );
  expect(status).toBe(200);
});

test("accepts an independently computed signature, once", async () => {
  // By the private key 1, whose address is well known; computed by a separate Python program.
  const address = Buffer.from("7e5f4552091a69125d5dfcb7b8c2659029395bdf", "hex");
  signed.api.node.ingestEvent(registerEvent(4242, address, { block: 99 }));
  expect(signed.nowSecs()).toBe(1_756_272_000);
  const send = () =>
    signed.send(
      { method, path, body: '{"name":"Vector","app_url":"https://vector.example/"}' },
      {
        "X-Svc-Fid": "4242",
        "X-Svc-Op": "app.create",
        "X-Svc-Signed-At": "1756272000",
        "X-Svc-Nonce": `0x${"01".repeat(32)}`,
        "X-Svc-Signature":
          "0xd01f1d1980f8510973a3d0421580a3b87187b279a21df97d77ccbcfe7a278de066aadae19b4cc3747e193c39de387d41d5d28207b0e27fec2f4bc1f3a23e903b1b",
      },
    );
  const first = await send();
  expect(first.status).toBe(200);
  expect(first.body.app).toMatchObject({ owner_fid: 4242, name: "Vector" });
  expect(await send()).toEqual({ status: 401, body: { message: "nonce was used before" } });
});

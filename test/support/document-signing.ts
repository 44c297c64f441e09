import { symlinkSync } from "node:fs";
import { join } from "node:path";
import type { AxiosInstance } from "axios";
import { toHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { documentExample, ROOT } from "./documents.ts";
import { tempDir } from "./program.ts";
import { custodyWallet } from "./signing.ts";

/** Imports the interceptor of docs/moving-from-a-hosted-api.md, for the fids of tests. */
export async function documentedSigningAxios(): Promise<(fid: number) => AxiosInstance> {
  using dir = tempDir();
  symlinkSync(join(ROOT, "node_modules"), join(dir.path, "node_modules"));
  await Bun.write(`${dir.path}/signing.ts`, documentExample("moving signing"));
  const { signingAxios } = await import(`${dir.path}/signing.ts`);
  return (fid) => signingAxios(fid, privateKeyToAccount(toHex(custodyWallet(fid).privateKey)));
}

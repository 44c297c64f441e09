import { symlinkSync } from "node:fs";
import { join } from "node:path";
import type { AxiosInstance } from "axios";
import { toHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { tempDir } from "./program.ts";
import { readmeExample } from "./readme.ts";
import { custodyWallet } from "./signing.ts";

/** The interceptor that the README shows, as it stands there, for the fids of tests. */
export async function readmeSigningAxios(): Promise<(fid: number) => AxiosInstance> {
  using dir = tempDir();
  symlinkSync(join(import.meta.dir, "../../node_modules"), join(dir.path, "node_modules"));
  await Bun.write(`${dir.path}/signing.ts`, readmeExample("moving: signing"));
  const { signingAxios } = await import(`${dir.path}/signing.ts`);
  return (fid) => signingAxios(fid, privateKeyToAccount(toHex(custodyWallet(fid).privateKey)));
}

import { useEffect } from "preact/hooks";
import { lazy } from "preact-iso";
import { Icon } from "../icons.tsx";
import { pageConfig } from "../page-config.ts";
import { Face } from "../parts/face.tsx";
import { pendingOperation } from "./operation.ts";
import { owner, restoreOwner } from "./owner.ts";

const LazySheet = lazy(async () => (await import("./operation-sheet.tsx")).OperationSheet);

/** The sheet of the operation that waits for the wallet, over every page. */
export function PendingSheet() {
  const pending = pendingOperation.value;
  return pending ? <LazySheet pending={pending} /> : null;
}

/** Whom the page acts for, or the way to connect. */
export function WalletButton() {
  useEffect(() => void restoreOwner(), []);
  if (!pageConfig.manage) return null;
  const current = owner.value;
  if (!current)
    return (
      <a class="btn me" href="/console/manage" aria-label="Connect a wallet">
        <Icon name="wallet" /> <span>Connect</span>
      </a>
    );
  return (
    <a class="btn quiet me" href="/console/manage" aria-label={`You are fid ${current.fid}`}>
      <Face user={{ fid: current.fid, username: String(current.fid) }} size={1.75} />
      <span>fid {current.fid}</span>
      {current.isDemo && <span class="pill warn">demo</span>}
    </a>
  );
}

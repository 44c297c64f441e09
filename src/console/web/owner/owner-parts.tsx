import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Icon } from "../icons.tsx";
import { pageConfig } from "../page-config.ts";
import { loadChunk } from "../shell/stale-chunk.ts";
import { type PendingOperation, pendingOperation } from "./operation.ts";
import { owner, restoreOwner } from "./owner.ts";

/** The sheet of the operation that waits for the wallet, over every page. */
export function PendingSheet() {
  const [Sheet, setSheet] = useState<ComponentType<{ pending: PendingOperation }>>();
  const pending = pendingOperation.value;
  useEffect(() => {
    if (!pending || Sheet) return;
    loadChunk(() => import("./operation-sheet.tsx")).then(
      (chunk) => setSheet(() => chunk.OperationSheet),
      (cause) => pending.reject(cause),
    );
  }, [pending, Sheet]);
  return pending && Sheet ? <Sheet pending={pending} /> : null;
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
  const { fid, isDemo } = current;
  return (
    <a class="btn quiet me" href="/console/manage" aria-label={`You are fid ${fid}${isDemo ? " demo" : ""}`}>
      <span class="face" aria-hidden="true" style={{ "--h": String((fid * 47) % 360), "--d": "1.75rem" }} />
      <span>fid {fid}</span> {isDemo && <span class="pill warn">demo</span>}
    </a>
  );
}

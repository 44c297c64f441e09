import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Face } from "../content/face.tsx";
import { usePeople } from "../data/query.ts";
import { loadChunk } from "../data/stale-chunk.ts";
import { Icon } from "../icons/icons.tsx";
import { pageConfig } from "../page-config.ts";
import * as msg from "../text/en/common.ts";
import { displayNameOf, plainName } from "../text/name.ts";
import { UserName } from "../text/user-text.tsx";
import { type PendingOperation, pendingOperation } from "./operation.ts";
import { type Owner, owner } from "./owner.ts";
import { restoreOwner } from "./restore-owner.ts";

/** The sheet of the operation that is waiting for the wallet, on every page. */
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

/** The current owner, or the way to connect. */
export function WalletButton() {
  useEffect(() => void restoreOwner(), []);
  if (!pageConfig.manage) return null;
  const current = owner.value;
  if (!current)
    return (
      <a class="btn me" href="/console/manage" aria-label={msg.connectAWallet}>
        <Icon name="wallet" /> <span>{msg.connect}</span>
      </a>
    );
  return <ActingAs owner={current} />;
}

function ActingAs({ owner: { fid, isDemo } }: { owner: Owner }) {
  const user = usePeople([fid]).get(fid) ?? { fid, username: `!${fid}` };
  const name = displayNameOf(user);
  return (
    <a class="btn quiet me" href="/console/manage" title={msg.fidOf(fid)}>
      <Face user={user} size={1.75} />
      <span class="skip">{msg.youAre(plainName(name))}</span>
      <span class="short" aria-hidden="true">
        <UserName name={name} />
      </span>
      {isDemo && <span class="pill warn">{msg.demo}</span>}
    </a>
  );
}

import { useEffect, useState } from "preact/hooks";
import { shortHex } from "../../data/format.ts";
import { OwnerRegion } from "../../owner/owner-region.tsx";
import { useOwnerPages } from "../../owner/use-owner-query.ts";
import { pageConfig } from "../../page-config.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { LoadMore, pagesAsQuery } from "../../parts/load-more.tsx";
import { Pill } from "../../parts/pill.tsx";
import { ReachNote } from "../../parts/reach-note.tsx";
import { Time } from "../../parts/time.tsx";
import { Outcome, useAction } from "../action.tsx";
import { ManagePage } from "../manage-page.tsx";
import {
  listCall,
  type ManagedSigner,
  PAGE_SIZE,
  permissionWords,
  removeOperation,
  STATES,
} from "./managed-signer.ts";

/** How often a signer is looked up whose approval is awaited. */
const PENDING_MS = 5_000;
const isOff = pageConfig.signers !== "on";

function ApprovalLink({ url }: { url: string }) {
  return (
    <div class="row wrap">
      <a class="grow roomy mono s user" href={url} target="_blank" rel="noopener noreferrer">
        {url}
      </a>
      <CopyButton text={url} label="Copy the link" quiet={false} />
    </div>
  );
}

function Signer({ signer, onRemoved }: { signer: ManagedSigner; onRemoved: () => void }) {
  const action = useAction();
  const [kind, word, meaning] = STATES[signer.status];
  const { fid, app_fid, approval_url, expires_at } = signer;
  async function remove() {
    if (await action.operate(removeOperation(signer))) onRemoved();
  }
  return (
    <li class="pad stack" data-row data-signer={signer.status} tabIndex={-1}>
      <div class="row wrap">
        <Pill {...(kind ? { kind } : {})} live={signer.status === "pending_approval"}>
          {word}
        </Pill>
        <span class="grow roomy">
          {fid === null ? meaning : <a href={`/console/people/${fid}`}>fid {fid}</a>}
          {app_fid !== null && (
            <span class="dim">
              {fid === null ? ", " : " "}
              for the app of <a href={`/console/people/${app_fid}`}>fid {app_fid}</a>
            </span>
          )}
        </span>
        <Time at={signer.created_at} />
        <button type="button" class="btn bad" aria-disabled={action.isBusy} onClick={remove}>
          Remove
        </button>
      </div>
      {signer.status === "pending_approval" && approval_url !== null && (
        <>
          <p class="s">Send this link to the user. They approve with the wallet that holds their fid:</p>
          <ApprovalLink url={approval_url} />
          <ReachNote url={approval_url} others="Users" />
        </>
      )}
      <dl class="pairs">
        <dt>It may</dt>
        <dd>{signer.permissions.map(permissionWords).join(", ")}</dd>
        {expires_at !== null && (
          <>
            <dt>Ends unless used</dt>
            <dd>
              <Time at={expires_at} />
            </dd>
          </>
        )}
        <dt>Id</dt>
        <dd class="mono">
          {signer.signer_uuid} <CopyButton text={signer.signer_uuid} />
        </dd>
        <dt>Public key</dt>
        <dd class="mono" title={signer.public_key}>
          {shortHex(signer.public_key)}
        </dd>
      </dl>
      <Outcome action={action} />
    </li>
  );
}

/** Says why this node keeps no keys of users, and what an operator sets. */
function Off({ because }: { because: "off" | "no_key" }) {
  return (
    <section class="card pad stack" aria-label="Signers are off">
      <p>
        <Pill kind="warn">off</Pill>{" "}
        {because === "off"
          ? "The operator has turned managed signers off. Those that are here can be looked up and removed; none of them signs."
          : "This node keeps no keys of users: it has no key to seal them with."}
      </p>
      <p class="s">
        The operator turns them on by{" "}
        {because === "off" ? (
          <code>signers.enabled = true</code>
        ) : (
          <>
            <code>signers.encryption_key</code>, which <code>{pageConfig.service} signer keygen</code> prints
          </>
        )}
        .
      </p>
    </section>
  );
}

function Signers() {
  const [isWaiting, setWaiting] = useState(false);
  const read = (body: { signers: readonly ManagedSigner[]; next: { cursor: string | null } }) => ({
    items: body.signers,
    next: body.next.cursor,
  });
  const pages = useOwnerPages<ManagedSigner>(listCall, read, { everyMs: isWaiting ? PENDING_MS : undefined });
  const { items = [] } = pages;
  const isWaitingNow = items.length <= PAGE_SIZE && items.some(({ status }) => status === "pending_approval");
  useEffect(() => setWaiting(isWaitingNow), [isWaitingNow]);
  return (
    <>
      {isOff && <Off because={pageConfig.signers === "off" ? "off" : "no_key"} />}
      <OwnerRegion
        title="Managed signers"
        call={listCall}
        query={pagesAsQuery(pages)}
        prompted={pages}
        isEmpty={(signers) => signers.length === 0}
        empty={
          isOff ? (
            <p>You have none.</p>
          ) : (
            <p>
              None yet. An app makes one with an <a href="/console/manage/keys">API key</a> that may{" "}
              <b>signers</b>, and asks its user to approve it: the key then casts and likes for them, and they
              can take it back at any time.
            </p>
          )
        }
      >
        {(signers) => (
          <>
            <ul class="rows">
              {signers.map((signer) => (
                <Signer signer={signer} onRemoved={() => pages.refresh()} key={signer.signer_uuid} />
              ))}
            </ul>
            <LoadMore pages={pages} size={PAGE_SIZE} />
          </>
        )}
      </OwnerRegion>
    </>
  );
}

/** The keys of users that the node keeps for the owner: state, approval, removal. */
export function Page() {
  return <ManagePage title="Signers">{() => <Signers />}</ManagePage>;
}

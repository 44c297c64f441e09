import { useEffect, useState } from "preact/hooks";
import { listOf } from "../../data/pages.ts";
import { usePeople } from "../../data/query.ts";
import { ActionButton, Outcome, useAction } from "../../owner/action.tsx";
import { owner } from "../../owner/owner.ts";
import { OwnerRegion, useOwnerPages } from "../../owner/owner-data.tsx";
import { signed } from "../../owner/signed-call.ts";
import { pageConfig } from "../../page-config.ts";
import { CopyButton } from "../../parts/copy.tsx";
import { Pill, type PillKind, Time } from "../../parts/pill.tsx";
import { Facts } from "../../parts/table.tsx";
import * as msg from "../../text/en/manage/signers.ts";
import { shortHex } from "../../text/format.ts";
import { PersonName } from "../../text/user-text.tsx";
import { ManagePage } from "../manage-page.tsx";
import { Approval, type ManagedSigner, Publishing } from "./approval.tsx";
import { NewSigner } from "./new-signer.tsx";

/** The word for each state, and its meaning. */
const STATES: Readonly<
  Record<ManagedSigner["status"], readonly [kind: PillKind | undefined, word: string, meaning: string]>
> = {
  generated: [undefined, msg.createdState, msg.noAppHasRequestedApprovalYet],
  pending_approval: ["warn", msg.waitingForApproval, msg.noUserHasApprovedItYet],
  approved: ["ok", msg.approved, msg.itSignsForItsUser],
  revoked: ["bad", msg.revoked, msg.itsUserHasRevokedIt],
};

const PAGE_SIZE = 50;
/** How often a signer is polled while its approval is pending. */
const PENDING_MS = 5_000;
const isOff = pageConfig.signers !== "on";

const PERMISSION_WORDS: Readonly<Record<string, string>> = {
  ...msg.PERMISSION_NAMES,
  WRITE_ALL: msg.everything,
};
const permissionWords = (permission: string) => PERMISSION_WORDS[permission] ?? permission;

/** A person, by name if this node knows it. */
function Person({ fid }: { fid: number }) {
  const user = usePeople([fid]).get(fid);
  return user ? <PersonName user={user} /> : <a href={`/console/people/${fid}`}>{msg.fidOf(fid)}</a>;
}

function Signer({ signer, onChanged }: { signer: ManagedSigner; onChanged: () => void }) {
  const action = useAction();
  const [kind, word, meaning] = STATES[signer.status];
  const { signer_uuid, status, fid, user_fid, app_fid, approval_url, expires_at, public_key } = signer;
  async function remove() {
    const removed = await action.operate({
      ...signed("DELETE /managed_signer", { body: { signer_uuid } }),
      title: msg.removeTheSigner,
      words: status === "approved" ? msg.theNodeErasesTheKeyAnd(fid ?? "") : msg.theNodeErasesTheKeyIts,
      typedName: signer_uuid.slice(0, 8),
    });
    if (removed) onChanged();
  }
  return (
    <li class="pad stack" data-row data-signer={status} tabIndex={-1}>
      <div class="row wrap">
        <Pill {...(kind ? { kind } : {})} live={status === "pending_approval"}>
          {word}
        </Pill>
        <span class="grow roomy">
          {fid !== null ? (
            <Person fid={fid} />
          ) : user_fid !== null ? (
            msg.waitsFor(<Person fid={user_fid} />)
          ) : (
            meaning
          )}
          {app_fid !== null && (
            <span class="dim">{msg.forTheAppOf(fid === null ? ", " : " ", <Person fid={app_fid} />)}</span>
          )}
        </span>
        <Time at={signer.created_at} />
        <ActionButton action={action} kind="bad" onClick={remove}>
          {msg.remove}
        </ActionButton>
      </div>
      {status === "pending_approval" && approval_url !== null && (
        <Approval url={approval_url} userFid={user_fid} onApproved={onChanged} />
      )}
      {status === "approved" && signer.owner_fid === owner.value?.fid && <Publishing signer={signer} />}
      <Facts
        class="pairs"
        facts={{
          [msg.permissions]: signer.permissions.map(permissionWords).join(", "),
          [msg.expiresUnlessUsed]: expires_at !== null && <Time at={expires_at} />,
          [msg.id]: (
            <span class="mono">
              {signer_uuid} <CopyButton text={signer_uuid} />
            </span>
          ),
          [msg.publicKey]: (
            <span class="mono" title={public_key}>
              {shortHex(public_key)}
            </span>
          ),
        }}
      />
      <Outcome action={action} />
    </li>
  );
}

/** Explains why this node has no users' keys, and what an operator must set. */
function Off({ because }: { because: "off" | "no_key" }) {
  return (
    <section class="card pad stack" aria-label={msg.signersAreOff}>
      <p>
        <Pill kind="warn">{msg.off}</Pill>{" "}
        {because === "off" ? msg.theOperatorHasTurnedManagedSigners : msg.thisNodeHoldsNoKeysOf}
      </p>
      <p class="s">
        {msg.theOperatorTurnsThemOnBy(
          because === "off" ? (
            <code>signers.enabled = true</code>
          ) : (
            msg.whichPrints(
              <code>signers.encryption_key</code>,
              <code>{pageConfig.service} signer keygen</code>,
            )
          ),
        )}
      </p>
    </section>
  );
}

function Signers() {
  const [isWaiting, setWaiting] = useState(false);
  const pages = useOwnerPages(
    signed("GET /managed_signer/list", { query: { limit: PAGE_SIZE } }),
    listOf("signers"),
    { everyMs: isWaiting ? PENDING_MS : undefined },
  );
  const { items = [] } = pages;
  const isWaitingNow = items.length <= PAGE_SIZE && items.some(({ status }) => status === "pending_approval");
  useEffect(() => setWaiting(isWaitingNow), [isWaitingNow]);
  return (
    <>
      {isOff ? (
        <Off because={pageConfig.signers === "off" ? "off" : "no_key"} />
      ) : (
        <NewSigner onCreated={() => pages.refresh()} />
      )}
      <OwnerRegion
        title={msg.managedSigners}
        query={pages}
        size={PAGE_SIZE}
        isEmpty={(signers) => signers.length === 0}
        empty={
          isOff ? (
            <p>{msg.noManagedSigners}</p>
          ) : (
            <p>
              {msg.noManagedSignersYetAnApp(
                <a href="/console/manage/keys">{msg.apiKey}</a>,
                <b>{msg.signersScope}</b>,
              )}
            </p>
          )
        }
      >
        {(signers) => (
          <ul class="rows">
            {signers.map((signer) => (
              <Signer signer={signer} onChanged={() => pages.refresh()} key={signer.signer_uuid} />
            ))}
          </ul>
        )}
      </OwnerRegion>
    </>
  );
}

/** The users' keys that the node holds for the owner: state, approval, removal. */
export function Page() {
  return <ManagePage title={msg.signers}>{() => <Signers />}</ManagePage>;
}

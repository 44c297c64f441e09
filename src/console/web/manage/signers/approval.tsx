import { useState } from "preact/hooks";
import type { Schemas } from "../../data/call.ts";
import { request } from "../../data/request.ts";
import { shellQuote } from "../../data/snippets.ts";
import { ActionButton, Outcome, useAction } from "../../owner/action.tsx";
import { runOperation } from "../../owner/operation.ts";
import { owner } from "../../owner/owner.ts";
import { signed } from "../../owner/signed-call.ts";
import { DemoForm } from "../../owner/wallet/signing-page.tsx";
import { nodeOrigin, pageConfig } from "../../page-config.ts";
import { CopyButton } from "../../parts/copy.tsx";
import { RawText, ReachNote } from "../../parts/raw-text.tsx";
import * as msg from "../../text/en/manage/signers.ts";
import { qrModules } from "./qr.ts";

export type ManagedSigner = Schemas["ManagedSigner"];

/** The quiet zone that a reader needs around a code, in modules. */
const MARGIN = 4;

/** The QR code of a link, dark on light in both themes, because readers expect that. */
function QrCode({ text }: { text: string }) {
  const modules = qrModules(text);
  if (!modules) return null;
  const size = modules.length + 2 * MARGIN;
  const path = modules.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? `M${x + MARGIN} ${y + MARGIN}h1v1h-1z` : [])),
  );
  return (
    <svg
      class="qr"
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label={msg.qrCode}
      shape-rendering="crispEdges"
      data-qr
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={path.join("")} fill="#000" />
    </svg>
  );
}

interface ApprovalProps {
  readonly url: string;
  /** The only person who can approve; null for anyone. */
  readonly userFid: number | null;
  readonly onApproved: () => void;
}

/** On a demo network anyone may approve, because its people's keys are public. */
function DemoApproval({ url, userFid, onApproved }: ApprovalProps) {
  const action = useAction();
  const approve = (fid: number) =>
    action.run(async () => {
      // The host of the link may differ from this page's.
      const path = `/approve/${url.split("/").at(-1)}/demo`;
      await request({ method: "POST", path, body: { fid } });
      onApproved();
      return undefined;
    });
  return (
    <>
      <DemoForm
        words={userFid === null ? msg.thisIsADemoNetworkApprove : msg.thisIsADemoNetworkApproveAs}
        fid={userFid === null ? undefined : String(userFid)}
        suggestedFid={owner.value?.fid}
        action={() => msg.approveAsADemoPerson}
        isBusy={action.isBusy}
        onSign={approve}
      />
      <Outcome action={action} />
    </>
  );
}

/** The link with which a user approves a signer. */
export function Approval({ url, userFid, onApproved }: ApprovalProps) {
  return (
    <>
      <p class="s">{msg.sendThisLinkToTheUser}</p>
      <div class="row wrap">
        <a class="grow roomy mono s user" href={url} target="_blank" rel="noopener noreferrer">
          {url}
        </a>
        <CopyButton text={url} label={msg.copyTheLink} quiet={false} />
      </div>
      <div class="row wrap">
        <QrCode text={url} />
        {pageConfig.demo && (
          <div class="grow roomy">
            <DemoApproval url={url} userFid={userFid} onApproved={onApproved} />
          </div>
        )}
      </div>
      <ReachNote url={url} others={msg.users} />
    </>
  );
}

/** What an approved signer can be used for: a first cast, and the call of an app. */
export function Publishing({ signer: { signer_uuid, fid } }: { signer: ManagedSigner }) {
  const action = useAction();
  const [hash, setHash] = useState<string>();
  const text = msg.TEST_TEXT;
  const publish = () =>
    action.run(async () => {
      const { message, state } = await runOperation({
        ...signed("POST /managed_signer/cast", { body: { signer_uuid, text } }),
        title: msg.publishATestCast,
        words: msg.itPublishesForFid(text, fid ?? ""),
      });
      if (state === "queued") return msg.queued;
      setHash(message ?? undefined);
      return undefined;
    });
  const call = `curl ${nodeOrigin}/v2/${pageConfig.compat}/cast \\
  -H "x-api-key: $API_KEY" -H 'content-type: application/json' \\
  -d ${shellQuote(JSON.stringify({ signer_uuid, text: "gm" }))}`;
  return (
    <>
      <p class="row wrap">
        <ActionButton action={action} onClick={publish}>
          {msg.publishATestCast}
        </ActionButton>
        {hash !== undefined && (
          <span role="status">{msg.published(<a href={`/console/casts/${hash}`}>{msg.openTheCast}</a>)}</span>
        )}
      </p>
      <Outcome action={action} />
      {pageConfig.compat !== "" && (
        <details>
          <summary class="s">{msg.publishFromYourApp}</summary>
          <RawText text={call} label={msg.publishFromYourApp} />
          <p class="s dim">
            {msg.theKeyNeedsTheScope(<a href="/console/manage/keys">{msg.apiKey}</a>, <code>write</code>)}
          </p>
        </details>
      )}
    </>
  );
}

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import type { Schemas } from "../data/call.ts";
import { type Action, ActionButton, Outcome, useAction } from "../owner/action.tsx";
import { type OwnerOperation, runOperation } from "../owner/operation.ts";
import { announce, CopyButton } from "../parts/copy.tsx";
import { focusHeading, ResultHeading } from "../parts/page-head.tsx";
import { Pill, Time } from "../parts/pill.tsx";
import { Card } from "../parts/region.tsx";
import { Facts } from "../parts/table.tsx";
import * as msg from "../text/en/manage/manage.ts";

/** The button of a form for a signed operation, with the outcome of the last attempt above it. */
export function SignButton(props: {
  action: Action;
  /** Why nothing can be signed yet; undefined if it can. */
  obstacle?: string | undefined;
  note?: string;
  children: ComponentChildren;
}) {
  const { action, obstacle, note = msg.requiresOneWalletSignature, children } = props;
  return (
    <>
      <Outcome action={action} />
      <div class="row wrap">
        <button type="submit" class="btn go" disabled={obstacle !== undefined} aria-disabled={action.isBusy}>
          {children}
        </button>
        <span class="s dim" role={obstacle === undefined ? undefined : "status"}>
          {obstacle ?? note}
        </span>
      </div>
    </>
  );
}

/** A card with the form of one operation. */
export function SignedForm(props: {
  title: string;
  /** The button's text. */
  label: string;
  action: Action;
  /** Why nothing can be signed yet; undefined if it can. */
  obstacle: string | undefined;
  note?: string;
  onSign: () => unknown;
  children: ComponentChildren;
}) {
  const { title, label, action, obstacle, note, onSign, children } = props;
  return (
    <form
      class="card"
      aria-label={title}
      onSubmit={(event) => {
        event.preventDefault();
        if (obstacle === undefined) void onSign();
      }}
    >
      <header>
        <h2 class="grow">{title}</h2>
      </header>
      <div class="pad stack">
        {children}
        <SignButton action={action} obstacle={obstacle} {...(note !== undefined && { note })}>
          {label}
        </SignButton>
      </div>
    </form>
  );
}

/** Deletes a record, then navigates to the list. */
export function DeleteCard(props: {
  operation: OwnerOperation & { readonly title: string };
  listPath: string;
  /** Explains the effect of the deletion. */
  children: ComponentChildren;
}) {
  const { operation, listPath, children } = props;
  const { route } = useLocation();
  const action = useAction();
  async function remove() {
    if ((await action.operate(operation)) === undefined) return;
    announce(msg.deleted);
    route(listPath);
  }
  return (
    <Card title={operation.title}>
      <p class="measure">{children}</p>
      <Outcome action={action} />
      <div>
        <ActionButton action={action} kind="bad" onClick={remove}>
          {operation.title}
        </ActionButton>
      </div>
    </Card>
  );
}

/** The text of a secret from the last response. It is in memory only: leaving the page forgets it. */
export function NewSecret(props: {
  title: string;
  secret: string;
  onDone?: () => void;
  /** Explains its purpose, and whether it can be shown again. */
  children: ComponentChildren;
}) {
  const { title, secret, onDone, children } = props;
  function finish() {
    focusHeading();
    onDone?.();
  }
  return (
    <section class="card" aria-label={title}>
      <header>
        <ResultHeading>{title}</ResultHeading>
      </header>
      <div class="pad stack">
        <p>{children}</p>
        <div class="row wrap">
          <code class="grow user" data-secret>
            {secret}
          </code>
          <CopyButton text={secret} quiet={false} />
        </div>
        {onDone && (
          <p>
            <button type="button" class="btn" onClick={finish}>
              {msg.iHaveStoredIt}
            </button>
          </p>
        )}
      </div>
    </section>
  );
}

type Secret = Schemas["SendSecret"];

const SecretText = ({ text, label }: { text: string; label: string }) => (
  <span class="row">
    <code class="grow user">{text}</code>
    <CopyButton text={text} label={label} />
  </span>
);

/** Secrets in their spellings; without their texts while those are hidden. */
export function Secrets({ secrets }: { secrets: readonly Secret[] }) {
  return (
    <ul class="stack">
      {secrets.map(({ uid, value, standard_secret: standard, expires_at, created_at }) => (
        <li class="stack" key={uid} data-secret>
          <p class="row wrap s">
            <Pill kind={expires_at === null ? "ok" : "warn"}>
              {expires_at === null ? msg.inUse : msg.beingReplaced}
            </Pill>
            <span class="dim">
              {msg.created(
                <Time ago at={created_at} />,
                expires_at !== null && <>{msg.expires(<Time at={expires_at} />)}</>,
              )}
            </span>
          </p>
          {value !== null && standard === null && <SecretText text={value} label={msg.copySecret} />}
          {value !== null && standard !== null && (
            <Facts
              class="pairs"
              facts={{
                [msg.hmacSha512Key]: <SecretText text={value} label={msg.copySecret} />,
                [msg.standardWebhooks]: <SecretText text={standard} label={msg.copyAsWhsec} />,
              }}
            />
          )}
        </li>
      ))}
    </ul>
  );
}

/** The secrets of a record: one signature shows them again, another rotates them. */
export function SecretsCard<T>(props: {
  secrets: readonly Secret[];
  secretsOf: (response: T) => readonly Secret[];
  reveal: OwnerOperation<T>;
  rotate: OwnerOperation<T>;
  onChanged: () => void;
  children?: ComponentChildren;
}) {
  const { secrets, secretsOf, reveal, rotate, onChanged, children } = props;
  const action = useAction();
  /** The secrets with their texts; in memory only, until the page is left. */
  const [shown, setShown] = useState<readonly Secret[]>();
  const show = (operation: OwnerOperation<T>, done: string) =>
    action.run(async () => {
      setShown(secretsOf(await runOperation(operation)));
      onChanged();
      return done;
    });
  return (
    <Card
      title={msg.secrets}
      aside={
        <>
          <ActionButton action={action} onClick={() => show(reveal, msg.theSecretsAreShownUntilYou)}>
            {msg.reveal}
          </ActionButton>
          <ActionButton action={action} onClick={() => show(rotate, msg.newSecretCreated)}>
            {msg.rotate}
          </ActionButton>
        </>
      }
    >
      {children}
      <Secrets secrets={shown ?? secrets} />
      <Outcome action={action} />
    </Card>
  );
}

import { useState } from "preact/hooks";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Time } from "../../parts/time.tsx";
import { Outcome, useAction } from "../action.tsx";
import type { App, SendSecret } from "./app.ts";
import { revealOperation, rotateOperation } from "./app-operations.ts";
import { NewSecret } from "./new-secret.tsx";

function SecretRow({ secret, value }: { secret: SendSecret; value: string | undefined }) {
  return (
    <li class="stack tight" data-secret-row={secret.uid}>
      <div class="row wrap">
        <span class="grow mono user">{value ?? "••••••••"}</span>
        {value !== undefined && <CopyButton text={value} />}
      </div>
      <p class="s dim">
        {secret.expires_at === null ? (
          "In force"
        ) : (
          <>
            Stops <Time at={secret.expires_at} />
          </>
        )}
        , made <Time ago at={secret.created_at} />
      </p>
    </li>
  );
}

/** The send secrets of an app: seen again for one signature, rotated for another. */
export function SecretsTab({ app, onChanged }: { app: App; onChanged: () => void }) {
  const action = useAction();
  const [revealed, setRevealed] = useState<ReadonlyMap<string, string>>(new Map());
  const [fresh, setFresh] = useState<string>();
  async function reveal() {
    const response = await action.operate<{ app: App }>(revealOperation(app));
    if (response) setRevealed(new Map(response.app.send_secrets.map(({ uid, value }) => [uid, value ?? ""])));
  }
  async function rotate() {
    const response = await action.operate<{ app: App }>(rotateOperation(app));
    if (!response) return;
    setFresh(response.app.send_secrets.at(-1)?.value ?? undefined);
    onChanged();
  }
  return (
    <div class="stack">
      <NewSecret secret={fresh} />
      <section class="card" aria-labelledby="secrets">
        <header>
          <h2 class="grow" id="secrets">
            Send secrets
          </h2>
        </header>
        <div class="pad stack">
          <p class="dim s measure">
            A server of yours sends with any of them. This browser's session does not see them; your wallet
            does.
          </p>
          <ul class="stack">
            {app.send_secrets.map((secret) => (
              <SecretRow secret={secret} value={revealed.get(secret.uid)} key={secret.uid} />
            ))}
          </ul>
          <Outcome action={action} />
          <div class="row wrap">
            <button type="button" class="btn" aria-disabled={action.isBusy} onClick={() => void reveal()}>
              Reveal
            </button>
            <button type="button" class="btn" aria-disabled={action.isBusy} onClick={() => void rotate()}>
              Rotate
            </button>
            <span class="s dim">Each is one prompt of your wallet.</span>
          </div>
        </div>
      </section>
    </div>
  );
}

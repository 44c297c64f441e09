import { useEffect, useState } from "preact/hooks";
import { RequestFailure, request } from "../data/request.ts";
import { Field } from "../parts/form.tsx";
import { Card } from "../parts/region.tsx";
import * as msg from "../text/en/manage/login.ts";
import { Steps, useSteps } from "./steps.tsx";

interface Opened {
  readonly channelToken: string;
  readonly url: string;
}
interface Status {
  readonly state: "pending" | "completed";
  readonly token?: string;
}

const POLL_MS = 1_500;
const UNAUTHORIZED = 401;

const statusOf = (token: string, signal: AbortSignal) =>
  request<Status>(
    { method: "GET", path: "/v1/channel/status" },
    { signal, headers: { authorization: `Bearer ${token}` } },
  );

/** A sign-in like that of websites: this page is the app, and the channel's page has the wallet. */
export function WebSignIn() {
  const { steps, isBusy, step, run, put, forgetFrom } = useSteps();
  const [domain, setDomain] = useState(location.host);
  const [channel, setChannel] = useState<Opened>();

  const open = () =>
    run(async () => {
      forgetFrom(msg.theChannel);
      setChannel(undefined);
      const siweUri = `${location.protocol}//${domain}/`;
      const opened = await step(msg.theChannel, async () => ({
        value: await request<Opened>({ method: "POST", path: "/v1/channel", body: { siweUri, domain } }),
      }));
      setChannel(opened);
    });

  useEffect(() => {
    if (!channel) return;
    const { channelToken, url } = channel;
    const left = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const link = (
      <a class="mono user" href={url} target="_blank" rel="noopener noreferrer">
        {url}
      </a>
    );
    put({ title: msg.theApproval, state: "waiting", text: msg.openThePageAndSignIn, more: link });
    const ask = async () => {
      try {
        const status = await statusOf(channelToken, left.signal);
        if (status.state === "completed") {
          put({ title: msg.theApproval, state: "done", value: status });
          return;
        }
      } catch (cause) {
        if (left.signal.aborted) return;
        const isOver = cause instanceof RequestFailure && cause.status === UNAUTHORIZED;
        if (isOver) {
          put({ title: msg.theApproval, state: "refused", text: msg.theChannelIsOver });
          return;
        }
        // The node may respond again before the channel ends.
      }
      timer = setTimeout(ask, POLL_MS);
    };
    void ask();
    return () => {
      left.abort();
      clearTimeout(timer);
    };
  }, [channel]);

  return (
    <Card title={msg.webSignIn}>
      <p class="measure">{msg.whatWebsitesDo}</p>
      <Field
        label={msg.domain}
        name="web-domain"
        value={domain}
        onInput={setDomain}
        hint={msg.theDomainOfYourApp}
      />
      <p>
        <button type="button" class="btn" aria-disabled={isBusy} onClick={() => void open()}>
          {msg.openAChannel}
        </button>
      </p>
      <Steps label={msg.webSignIn} steps={steps} />
    </Card>
  );
}

/**
 * The service worker of notices, which a browser has only once its user turned them on. It caches nothing and handles no requests.
 */

/** What this file uses of the scope of a service worker, whose types exclude those of pages. */
interface WorkerScope {
  readonly location: Location;
  readonly registration: {
    showNotification(
      title: string,
      options: NotificationOptions & { readonly renotify?: boolean },
    ): Promise<void>;
  };
  readonly clients: {
    matchAll(options: {
      readonly type: "window";
    }): Promise<readonly { readonly url: string; focus(): Promise<unknown> }[]>;
    openWindow(url: string): Promise<unknown>;
  };
  addEventListener(type: string, listener: (event: WorkerEvent) => void): void;
}
interface WorkerEvent {
  waitUntil(work: Promise<unknown>): void;
  readonly data?: { json(): unknown } | null;
  readonly notification?: Notification;
}
interface Shown {
  readonly title: string;
  readonly body: string;
  readonly tag: string;
  readonly path: string;
}

/** A message without content, as some push services send to test. */
const EMPTY: Shown = { title: "", body: "", tag: "", path: "/console/operator" };

const worker = self as unknown as WorkerScope;

worker.addEventListener("push", (event) => {
  const { title, body, tag, path } = (event.data?.json() ?? EMPTY) as Shown;
  // A notice takes the place of an earlier one of its incident, and sounds again.
  event.waitUntil(worker.registration.showNotification(title, { body, tag, renotify: true, data: path }));
});

worker.addEventListener("notificationclick", (event) => {
  event.notification?.close();
  const { href } = new URL(String(event.notification?.data), worker.location.origin);
  event.waitUntil(
    worker.clients.matchAll({ type: "window" }).then((windows) => {
      const there = windows.find(({ url }) => url === href);
      return there ? there.focus() : worker.clients.openWindow(href);
    }),
  );
});

export {};

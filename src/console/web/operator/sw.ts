/** The service worker for notices. A browser has it only once its user has turned them on. It caches nothing and handles no requests. */

/** The parts of a service worker's scope that this file uses; their types exclude those of pages. */
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

/** A message without content, which some push services send as a test. */
const EMPTY: Shown = { title: "", body: "", tag: "", path: "/console/operator" };

const worker = self as unknown as WorkerScope;

worker.addEventListener("push", (event) => {
  const { title, body, tag, path } = (event.data?.json() ?? EMPTY) as Shown;
  // A notice replaces an earlier one of its incident, and alerts again.
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

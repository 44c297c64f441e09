/** If two patterns match a text, the first one counts. */
export const DOCTOR: Readonly<Record<string, string>> = {
  // What is looked at.
  settings: "Einstellungen",
  "data directory": "Datenverzeichnis",
  "file system": "Dateisystem",
  "disk space": "Speicherplatz",
  "disk speed": "Geschwindigkeit der Festplatte",
  databases: "Datenbanken",
  index: "Index",
  state: "Zustand",
  history: "Verlauf",
  "space for the index": "Platz für den Index",
  costs: "Kosten",
  memory: "Arbeitsspeicher",
  "open files": "offene Dateien",
  "time source": "Zeitquelle",
  DNS: "DNS",
  "followed node": "Quellknoten",
  "who owns an fid": "wem eine fid gehört",
  certificates: "Zertifikate",
  replication: "Replikation",
  calls: "Aufrufe",
  network: "Netz",
  "lag of the followed node": "Rückstand des Quellknotens",
  clock: "Uhr",
  PostgreSQL: "PostgreSQL",
  ports: "Ports",
  "running node": "laufender Knoten",

  // costs.ts
  '{} fids, see "space for the index"; the whole network has {}':
    "{} fids, siehe „Platz für den Index“; das ganze Netz hat {}",
  "the whole network has {}; {}": "das ganze Netz hat {}; {}",
  "the followed node, if it is your own, too, takes {}":
    "der Quellknoten, wenn auch er deiner ist, braucht {}",
  "about {} million messages ({}), an index of {} GB, {} GB while it is filled, {} h of two free cores":
    "etwa {} Millionen Nachrichten ({}), einen Index von {} GB, {} GB beim Füllen, {} h zweier freier Kerne",
  "{} fids with {} messages take {} GB and {} s": "{} fids mit {} Nachrichten brauchen {} GB und {} s",
  "a machine of {} GB of memory, {} cores and {} TB of disk ({}, {})":
    "einen Rechner mit {} GB Arbeitsspeicher, {} Kernen und {} TB Festplatte ({}, {})",
  "about {}, and {} while it is filled; {} free": "etwa {}, und {} beim Füllen; {} frei",
  "Use a larger disk, or follow fewer fids (upstream.fids)":
    "Nimm eine größere Festplatte, oder folge weniger fids (upstream.fids)",
  "could not be estimated {}": "ließ sich {} schätzen",
  "in time": "nicht rechtzeitig",
  "without the responses of the followed node": "ohne Antworten des Quellknotens nicht",
  "`svc upstream estimate` takes longer and reports more":
    "`svc upstream estimate` dauert länger und sagt mehr",
  "{}; {} free": "{}; {} frei",
  "the index has {}; migrating it to a new format needs {} more":
    "der Index hat {}; eine Migration auf ein neues Format braucht {} mehr",
  "Free space before the next upgrade": "Schaffe vor dem nächsten Upgrade Platz",

  // data-directory.ts
  "Run this as the user of the node (sudo -u svc); else give it that directory (chown), or name another one with --data-dir":
    "Führe das als Benutzer des Knotens aus (sudo -u svc); sonst gib ihm das Verzeichnis (chown), oder nenne mit --data-dir ein anderes",
  "{} is on a file system that does not respond": "{} liegt auf einem Dateisystem, das nicht antwortet",
  "See the mount and its server (findmnt -T), and put data.dir on a local disk":
    "Sieh dir den Mount und seinen Server an (findmnt -T), und lege data.dir auf eine lokale Festplatte",
  "{} is not a directory": "{} ist kein Verzeichnis",
  "Set data.dir to a directory, or move the file":
    "Setze data.dir auf ein Verzeichnis, oder verschiebe die Datei",
  "{} does not exist yet; the node creates it": "{} gibt es noch nicht; der Knoten legt es an",
  "{} can be written, and belongs to the user {}": "{} ist beschreibbar und gehört dem Benutzer {}",
  "{} can be written": "{} ist beschreibbar",
  "{} cannot be written: {}": "{} ist nicht beschreibbar: {}",
  "{} is on a disk of this machine": "{} liegt auf einer Festplatte dieses Rechners",
  "{} is on {}, where the locks of SQLite are not reliable":
    "{} liegt auf {}, wo die Sperren von SQLite nicht zuverlässig sind",
  "Put data.dir on a local disk": "Lege data.dir auf eine lokale Festplatte",
  "{} is in memory ({}) and lost when the machine stops":
    "{} liegt im Arbeitsspeicher ({}) und ist verloren, wenn der Rechner anhält",
  "Put data.dir on a disk": "Lege data.dir auf eine Festplatte",
  "{} is in the layer of a container ({}) and is deleted with it":
    "{} liegt in der Schicht eines Containers ({}) und wird mit ihm gelöscht",
  "Mount a volume at data.dir": "Hänge unter data.dir ein Volume ein",
  "{} MB free for {}": "{} MB frei für {}",
  "Free space, or put data.dir on a larger disk: at a full disk the node refuses writes":
    "Schaffe Platz, oder lege data.dir auf eine größere Festplatte: Bei voller Festplatte lehnt der Knoten Schreibzugriffe ab",
  "cannot be measured: the disk is full": "lässt sich nicht messen: Die Festplatte ist voll",
  "Free space for the data directory": "Schaffe Platz für das Datenverzeichnis",
  "cannot be measured: {}": "lässt sich nicht messen: {}",
  "Fix what prevents writes to the data directory": "Behebe, was das Schreiben von Dateien verhindert",
  "sync {} ms, writes {} MB/s": "Sync {} ms, schreibt {} MB/s",
  "Each submit and signed request waits for a sync. Use an SSD, preferably a local one":
    "Jede Einreichung und jede signierte Anfrage wartet auf einen Sync. Nimm eine SSD, am besten eine lokale",
  "Filling the index will take longer than estimated. Use an SSD, preferably a local one":
    "Das Füllen des Index wird länger dauern als geschätzt. Nimm eine SSD, am besten eine lokale",

  // databases.ts
  "does not exist yet; the node creates it": "gibt es noch nicht; der Knoten legt ihn an",
  "Fix the cause": "Behebe die Ursache",
  "Upgrade, or wait for the node to read it": "Mach ein Upgrade, oder warte, bis der Knoten es gelesen hat",
  "{} is missing; the node does not start with a filled index and no state":
    "{} fehlt; mit gefülltem Index und ohne Zustand startet der Knoten nicht",
  "Restore it from a backup, or start once with --new-state to begin with an empty one":
    "Stelle sie aus einer Sicherung wieder her, oder starte einmal mit --new-state, um mit einem leeren zu beginnen",
  "{} is damaged: {}": "{} ist beschädigt: {}",
  "{} cannot be opened: {}": "{} lässt sich nicht öffnen: {}",
  "{} was written by a newer version of this program":
    "{} wurde von einer neueren Version dieses Programms geschrieben",
  "Run the newer version, or restore what was there before the upgrade":
    "Nimm die neuere Version, oder stelle den Stand vor dem Upgrade wieder her",
  "{} has the format of an earlier version; the node serves nothing until it is migrated":
    "{} hat das Format einer früheren Version; vor der Migration bedient der Knoten nichts",
  "Run `svc migrate`, or start with `svc serve --migrate`":
    "Führe `svc migrate` aus, oder starte mit `svc serve --migrate`",
  "{}: earlier version; the next start migrates it": "{}: frühere Version; der nächste Start migriert sie",
  "{}: current version, {}": "{}: aktuelle Version, {}",
  "small tables intact": "kleine Tabellen unbeschädigt",
  intact: "unbeschädigt",
  "responds; the schema is current": "antwortet; das Schema ist aktuell",
  "responds; the node creates or updates its schema at startup":
    "antwortet; der Knoten legt ihr Schema beim Start an oder bringt es auf den neuesten Stand",
  "Run it, or set state.migrate = true": "Führe ihn aus, oder setze state.migrate = true",
  "The index can be rebuilt: move {}, {}-wal and {}-shm away and start again. It is then filled again from upstream.url, or by importing the same files":
    "Der Index lässt sich neu aufbauen: Verschiebe {}, {}-wal und {}-shm, und starte neu. Er wird dann wieder aus upstream.url gefüllt, oder indem du dieselben Dateien importierst",
  "The state (apps, webhooks, secrets, notification tokens, deliveries, nonces) cannot be rebuilt: move {}, {}-wal and {}-shm away and restore {} from a backup":
    "Der Zustand (Apps, Webhooks, Geheimnisse, Benachrichtigungs-Tokens, Zustellungen, Nonces) lässt sich nicht neu aufbauen: Verschiebe {}, {}-wal und {}-shm, und stelle {} aus einer Sicherung wieder her",

  // examine.ts
  "See docs/operate/settings.md": "Siehe docs/operate/settings.md",
  "valid, from {}": "gültig, aus {}",
  "the defaults (no file)": "den Standardwerten (keine Datei)",
  "Correct it; `svc config defaults` explains each setting":
    "Korrigiere es; `svc config defaults` erklärt jede Einstellung",
  "history.db can be read and has {}": "history.db ist lesbar und hat {}",
  "{} of at most {} MB": "{} von höchstens {} MB",
  "history.db cannot be read: {}": "history.db ist nicht lesbar: {}",
  "The node sets a damaged one aside and begins a new one; only the console depends on it":
    "Eine beschädigte legt der Knoten beiseite und beginnt eine neue; nur die Konsole braucht sie",
  "{} was set aside as damaged": "{} wurde als beschädigt beiseitegelegt",
  "{} and {} more": "{} und {} weitere",
  "Check the disk, and delete what you do not need":
    "Sieh dir die Festplatte an, und lösche, was du nicht brauchst",
  "{} cannot be read: {}": "{} ist nicht lesbar: {}",

  // finding.ts
  "could not be checked within {} s": "ließ sich nicht innerhalb von {} s prüfen",
  "no response within {} s": "keine Antwort innerhalb von {} s",
  "Run `svc doctor` again; if this persists, check what it waits for":
    "Führe `svc doctor` noch einmal aus; bleibt es so, sieh nach, worauf er wartet",
  "could not be checked: {}": "ließ sich nicht prüfen: {}",
  "See the reason": "Siehe den Grund",

  // followed-node.ts
  "none (upstream.url): the node serves the demo network or what is submitted and imported":
    "keiner (upstream.url): Der Knoten bedient das Demonetz, oder was eingereicht und importiert wird",
  "confirmed by the chain at chain.op_rpc_url (trust.events)":
    "von der Chain unter chain.op_rpc_url bestätigt (trust.events)",
  "as reported by the followed node (trust.events)": "wie vom Quellknoten gemeldet (trust.events)",
  "confirmed by two of {} nodes (trust.events)": "von zwei von {} Knoten bestätigt (trust.events)",
  "the first decision of an fid, and each after a change of its owner, needs both nodes (trust.events): while one is away, late or lies, they respond with 503":
    "die erste Entscheidung einer fid, und jede nach einem Wechsel ihres Besitzers, braucht beide Knoten (trust.events): Solange einer weg ist, zurückliegt oder lügt, kommt 503",
  "List a third node in upstream.urls": "Nenne in upstream.urls einen dritten Knoten",
  "Correct upstream.url: the gRPC address of a snapchain node that follows everybody":
    "Korrigiere upstream.url: die gRPC-Adresse eines Snapchain-Knotens, der allen folgt",
  "Check that it runs and that this machine can reach its gRPC port (firewall, address)":
    "Sieh nach, ob er läuft und ob dieser Rechner seinen gRPC-Port erreichen darf (Firewall, Adresse)",
  "{} does not respond: {}": "{} antwortet nicht: {}",
  "{} is a node of version {} with {} {}, responded in {} ms":
    "{} ist ein Knoten der Version {} mit {} {} und hat nach {} ms geantwortet",
  shard: "Shard",
  shards: "Shards",
  unknown: "unbekannt",
  "its blocks are not verified: the node is trusted, see docs/follow-the-network.md":
    "seine Blöcke werden nicht geprüft: Dem Knoten wird vertraut, siehe docs/follow-the-network.md",
  "validators of the network signed the newest block of each shard ({})":
    "Validatoren des Netzes haben den neuesten Block jedes Shards signiert ({})",
  "Do not follow it: no node of this network sends such a block":
    "Folge ihm nicht: Ein Knoten dieses Netzes sendet keinen solchen Block",
  "no snapshots (the node produces its own blocks)": "keine Snapshots (der Knoten erzeugt eigene Blöcke)",
  "{}; filling an index of the whole network from it is refused":
    "{}; aus ihm einen Index des ganzen Netzes zu füllen wird abgelehnt",
  "{} in flight and {} a second, at a {} address": "{} gleichzeitig und {} je Sekunde, an einer {} Adresse",
  "any number": "beliebig viele",
  private: "privaten",
  public: "öffentlichen",
  "Ask its operator, then list its host in upstream.bulk_from, or start with --accept-load":
    "Frag seinen Betreiber, und nenne dann seinen Host in upstream.bulk_from, oder starte mit --accept-load",
  "its messages are of {}": "seine Nachrichten sind aus {}",
  "it has no messages that name one": "er hat keine Nachrichten, die eines nennen",
  "Wait until the followed node has data, then run `svc doctor` again":
    "Warte, bis der Quellknoten Daten hat, und führe dann `svc doctor` noch einmal aus",
  "its newest block is {} s old, more than upstream.ready_lag_secs ({})":
    "sein neuester Block ist {} s alt, mehr als upstream.ready_lag_secs ({})",
  "its newest block is {} s old": "sein neuester Block ist {} s alt",
  "Wait until it has caught up, or follow another node: until then this one is not ready":
    "Warte, bis er aufgeholt hat, oder folge einem anderen Knoten: Bis dahin ist dieser nicht bereit",
  "agrees with that of the followed node": "stimmt mit der des Quellknotens überein",
  "{}: signed requests are refused": "{}: Signierte Anfragen werden abgelehnt",
  "this machine is {} s {} the followed node": "dieser Rechner geht {} s {} dem Quellknoten",
  "ahead of": "vor",
  behind: "hinter",
  "Set the clock, and have it synchronised (systemd-timesyncd, chrony); or ask whether that node's is right":
    "Stelle die Uhr, und lass sie synchronisieren (systemd-timesyncd, chrony); oder frag, ob die jenes Knotens stimmt",

  // machine.ts
  "{}: connections are refused at three quarters of it":
    "{}: Ab drei Vierteln davon werden Verbindungen abgelehnt",
  "{} may open {} files": "{} darf {} Dateien öffnen",
  "the running node": "der laufende Knoten",
  "a process started here": "ein hier gestarteter Prozess",
  "Raise it: LimitNOFILE=65536 in the unit, `ulimit -n 65536` in a shell, or --ulimit of the container":
    "Erhöhe die Zahl: LimitNOFILE=65536 in der Unit, `ulimit -n 65536` in einer Shell, oder --ulimit des Containers",
  "{} MB available": "{} MB verfügbar",
  "{}; enough {}": "{}; genug {}",
  "{}; too little {}": "{}; zu wenig {}",
  "{}; may be too little {} while the index is filled": "{}; beim Füllen des Index vielleicht zu wenig {}",
  "for {} HTTP {}": "für {} {}",
  worker: "HTTP-Worker",
  workers: "HTTP-Worker",
  "Give the machine or container 1 GB or more": "Gib dem Rechner oder Container mindestens 1 GB",
  "Stop what uses it, or set {}": "Beende, was ihn belegt, oder setze {}",
  "{} ({}) is free on {}": "{} ({}) ist auf {} frei",
  "port {} is in use: another process listens on {}. Set another: {}":
    "Port {} ist belegt: Ein anderer Prozess lauscht auf {}. Setze einen anderen: {}",
  "this user may not listen on port {}. Set another: {}":
    "dieser Benutzer darf auf Port {} nicht lauschen. Setze einen anderen: {}",
  "cannot listen on {}: {}": "auf {} kann gerade nicht gelauscht werden: {}",
  "uses the data directory and is ready": "nutzt das Datenverzeichnis und ist bereit",
  "uses the data directory; {}": "nutzt das Datenverzeichnis; {}",
  "the node is up and waits to be set up": "der Knoten läuft und wartet auf seine Einrichtung",
  "Restart it after svc init: it then runs with these settings":
    "Starte ihn nach svc init neu: Dann läuft er mit diesen Einstellungen",
  "See its /status and its log. A node that fills its index is ready afterwards; one at index.max_bytes needs a higher bound or a smaller index (svc index compact)":
    "Siehe sein /status und sein Log. Ein Knoten, der seinen Index füllt, ist danach bereit; einer an index.max_bytes braucht eine höhere Grenze oder einen kleineren Index (svc index compact)",
  "the kernel reports a synchronized clock": "der Kernel meldet eine synchronisierte Uhr",
  "the kernel reports that nothing synchronizes the clock":
    "der Kernel meldet, dass nichts die Uhr synchronisiert",
  "Start systemd-timesyncd or chrony, on the machine itself if this is a container":
    "Starte systemd-timesyncd oder chrony, bei einem Container auf dem Rechner selbst",
  "this system does not report whether the clock is synchronized":
    "dieses System meldet nicht, ob die Uhr synchronisiert ist",
  "Check that a time daemon runs; `clock` compares with the followed node":
    "Sieh nach, ob ein Zeitdienst läuft; „Uhr“ vergleicht mit dem Quellknoten",
  "See /etc/resolv.conf and the spelling of the setting; webhooks and notifications need DNS, too":
    "Prüfe /etc/resolv.conf und die Schreibweise der Einstellung; auch Webhooks und Benachrichtigungen brauchen DNS",
  "no setting names a host": "keine Einstellung nennt einen Host",
  "{} ({}) resolves to {} ({} ms)": "{} ({}) wird zu {} aufgelöst ({} ms)",
  "Use a name server that responds faster, preferably one nearby":
    "Nimm einen Nameserver, der schneller antwortet, am besten einen in der Nähe",
  "{} ({}) does not resolve: {}": "{} ({}) lässt sich nicht auflösen: {}",

  // replication.ts
  "{}: an index of the whole network is filled fid by fid, with 13 calls for each":
    "{}: Ein Index des ganzen Netzes wird fid für fid gefüllt, mit je 13 Aufrufen",
  "not needed for an index of selected fids": "für einen Index ausgewählter fids nicht nötig",
  "it serves no snapshots": "er bietet keine Snapshots an",
  "it has no snapshot of shard {} yet": "er hat noch keinen Snapshot von Shard {}",
  "its snapshot of shard {} is not of a block of the network ({})":
    "sein Snapshot von Shard {} gehört zu keinem Block des Netzes ({})",
  "Do not fill an index from it": "Fülle keinen Index aus ihm",
  "its newest snapshots are {} old": "seine neuesten Snapshots sind {} alt",
  "a page of its snapshots is not of the network's state ({})":
    "eine Seite seiner Snapshots gehört nicht zum Stand des Netzes ({})",
  "its snapshots are at most {} old; {}": "seine Snapshots sind höchstens {} alt; {}",
  "a page of {} records took {} ms": "eine Seite mit {} Datensätzen brauchte {} ms",
  "no page could be read without gasless keys": "ohne gaslose Schlüssel war keine Seite lesbar",
  "List a node with snapshots in upstream.urls, or wait: nodes make one every eight hours":
    "Nenne in upstream.urls einen Knoten mit Snapshots, oder warte: Knoten machen alle acht Stunden einen",

  // config/checks/risks.ts
  "Reaches PostgreSQL on another machine without proof that it is the right one: anyone on the way can read and change the state. Use sslmode=verify-full":
    "Erreicht PostgreSQL auf einem anderen Rechner ohne Nachweis, dass es der richtige ist: Jeder auf dem Weg kann den Zustand lesen und ändern. Nimm sslmode=verify-full",
  "Trusts every address as a proxy: any client can choose the address by which its requests are counted. List the networks of the proxies only":
    "Vertraut jeder Adresse als Proxy: Jeder Client kann die Adresse wählen, nach der seine Anfragen zählen. Nenne nur die Netze der Proxys",
  "Serves reads to anyone without a limit on a public address. Set http.anonymous_units_per_minute, or require keys with http.anonymous = false, unless a proxy limits clients":
    "Bedient auf einer öffentlichen Adresse Lesezugriffe von jedem ohne Grenze. Setze http.anonymous_units_per_minute, oder verlange mit http.anonymous = false Schlüssel, außer wenn ein Proxy Clients begrenzt",
  "Is in bytes, and an empty index takes about that much: the node may merge nothing at all. `svc upstream estimate` says how many an index needs":
    "Ist in Bytes, und schon ein leerer Index braucht etwa so viel: Der Knoten übernimmt vielleicht gar nichts. `svc upstream estimate` sagt, wie viele ein Index braucht",
  "Listens on a public address with the default service.name: signed requests name no host, so one for another node of this name is also valid here within auth.signed_at_window_secs. Give this node a name of its own":
    "Lauscht auf einer öffentlichen Adresse mit dem Standard von service.name: Signierte Anfragen nennen keinen Host, also gilt eine für einen anderen Knoten dieses Namens innerhalb von auth.signed_at_window_secs auch hier. Gib diesem Knoten einen eigenen Namen",
};

export const SERVING: Readonly<Record<string, string>> = {
  "service.name":
    "Der Name in den Pfaden (/v2/<name>), das Präfix der Header, die Domain der signierten Daten und das Präfix der Metriken. Ein Kleinbuchstabe, dann bis zu 31 Kleinbuchstaben oder Ziffern. Clients signieren darüber: Ändere ihn vor dem ersten Client.",
  "service.compat_prefixes":
    "Weitere Präfixe, höchstens 8, wie in /v2/farcaster, unter denen der Dienst den Dialekt der gehosteten API spricht, für die die meisten Clients geschrieben sind: ihre Parameternamen, ISO-Zeiten, Objekte und Fehlertexte. [] schaltet das ab.",
  "service.shutdown_deadline_secs":
    "Sekunden vom ersten SIGTERM, SIGINT oder SIGHUP, bis der Prozess endet, auch wenn ein Teil hängt; 1 bis 600. Der Standard liegt unter den 10 Sekunden, nach denen `docker stop` den Prozess abbricht.",
  "service.public_url":
    'Die URL, unter der Nutzer diesen Dienst erreichen und aus der Links entstehen, etwa "https://host.example" oder "https://host.example/path". Leer: die URL, auf der er lauscht, solange sie eine Loopback-Adresse ist; auf anderen bekommen Anfragen, die Links brauchen, 501.',
  "service.ready_when_empty":
    "Ob ein Knoten ohne Daten, der keinem Knoten folgt, ein Netz für sich ist. Mit false antwortet sein /ready mit 503, `not_set_up`, und er lehnt ab, was eingereicht wird: Seine Nutzer sind noch nicht gewählt.",
  "node.id":
    "Der Name dieses Knotens im Header X-Svc-Node und unter den Knoten eines Clusters, in deren Logs er steht und von denen keine zwei denselben haben dürfen: ein Kleinbuchstabe oder eine Ziffer, dann bis zu 62 Kleinbuchstaben, Ziffern, Punkte oder Bindestriche. Leer gilt die Id in der Datei node-id des Datenverzeichnisses, die zufällig ist und beim ersten Start entsteht.",
  "data.dir":
    "Verzeichnis aller Daten. Fehlt es, wird es mit Modus 0700 angelegt; ein relativer Pfad beginnt im Arbeitsverzeichnis. Nur ein Prozess darf es gleichzeitig nutzen. Es muss auf einer lokalen Festplatte liegen, weil die Sperren von SQLite über NFS nicht funktionieren.",
  "state.url":
    'Wo Apps, Webhooks, Geheimnisse, Tokens, Kampagnen, Zustellungen und Nonces gespeichert sind: leer für state.db im Datenverzeichnis dieses einen Knotens, oder eine PostgreSQL-Datenbank (15 bis 18), die sich bis zu 64 Knoten teilen, etwa "postgres://user@host:5432/database?sslmode=verify-full". sslmode ist disable, require, verify-ca oder verify-full; ohne Angabe wird dieser Rechner im Klartext erreicht und jeder andere mit verify-full. "host=/directory" als Parameter nennt einen Unix-Socket. Variablen wie PGHOST oder DATABASE_URL zählen nicht.',
  "state.password":
    "Das Passwort des Benutzers, statt eines in der URL. Am besten in einer Datei, die password_file nennt.",
  "state.tls_ca_file":
    "Eine PEM-Datei mit den Zertifizierungsstellen, gegen die das Zertifikat des Servers geprüft wird, statt denen des Systems.",
  "state.schema": "Das Schema aller Tabellen in der Datenbank. Es wird beim ersten Start angelegt.",
  "state.connections":
    "Verbindungen dieses Knotens zur Datenbank, 0 bis 200; 0 nimmt 14 und zwei für jeden HTTP-Worker. Eine Zahl muss mindestens 13 und zwei für jeden HTTP-Worker sein.",
  "state.timeout_ms":
    "Millisekunden, die eine Anweisung dauern darf, 500 bis 60000. Auf eine Sperre wird zwei Fünftel davon gewartet. Eine Anfrage, die den Zustand braucht, bekommt nach sieben Fünfteln davon 503.",
  "state.migrate":
    "Ob ein Start das Schema auf den neuesten Stand bringt. Mit false endet ein Start auf einem älteren Schema mit Exitcode 1, bis `svc state migrate` gelaufen ist.",
  "http.host":
    'Adresse, auf der die HTTP-Schnittstelle lauscht: eine IP-Adresse oder ein Hostname. "0.0.0.0" oder "::" lauscht in jedem Netz.',
  "http.port":
    "TCP-Port der HTTP-Schnittstelle, 0 bis 65535; 0 nimmt einen beliebigen freien Port, der im Log steht.",
  "http.workers":
    "Worker der HTTP-Schnittstelle, 0 bis 64, jeder auf einem eigenen Thread. Sie teilen sich den Port, und jeder weitere braucht etwa 50 MB. 0 lässt den anderen Threads einen Kern: ein Worker auf einem oder zwei Kernen, zwei auf drei, höchstens vier.",
  "http.max_ids":
    "Höchstzahl der Ids (fids, Hashes, Adressen, Kanal-Ids) in einem Listenparameter, 1 bis 1000; mehr ist ein 400.",
  "http.cors_origins":
    'Origins, von denen Browser aufrufen dürfen, höchstens 64: "*" für alle, oder eine Liste wie ["https://app.example"]. Zugangsdaten sind nie erlaubt.',
  "http.anonymous":
    'Ob Lesezugriffe ohne API-Schlüssel gehen. Mit false brauchen Lesezugriffe unter jedem Präfix, /v1 auf diesem Port und der Stream einen Schlüssel mit der Berechtigung "read"; Pfade des Betriebs, die Dokumentation, signierte Anfragen, Token-Ereignisse und Benachrichtigungen nicht.',
  "http.anonymous_units_per_minute":
    "Leseeinheiten, die eine Client-Adresse je Minute und Prozess ohne Schlüssel verbrauchen darf, 0 bis 1000000000; 0 setzt keine Grenze. Eine Einheit sind etwa 50 Mikrosekunden CPU. Die Adressen eines IPv6-/64 zählen zusammen.",
  "http.anonymous_burst_units":
    "Einheiten, die eine Client-Adresse auf einmal verbrauchen darf, 0 bis 1000000000; 0 steht für ein Zehntel von anonymous_units_per_minute.",
  "http.trusted_proxies":
    'Netze der Proxys vor dem Knoten, höchstens 256, etwa ["10.0.0.0/8", "::1/128"]. Hinter ihnen steht die Adresse eines Clients, nach der Grenzen zählen, in dem Header, den proxy_header nennt; bei jeder anderen Verbindung ist es die der Verbindung selbst.',
  "http.proxy_header":
    'Der Header von HTTP-Anfragen und gRPC-Aufrufen, an den die vertrauten Proxys die Adresse ihres Aufrufers anhängen: "x-forwarded-for" oder "forwarded" (RFC 7239). Der andere wird ignoriert.',
  "http.idle_timeout_secs":
    "Sekunden, die eine Verbindung ungenutzt sein darf, bevor sie geschlossen wird, 1 bis 255.",
  "http.shutdown_grace_secs":
    "Sekunden, die laufende Anfragen beim Beenden des Prozesses noch haben, 0 bis 599. Muss kleiner als service.shutdown_deadline_secs sein.",
  "http.drain_delay_secs":
    "Sekunden, die der Prozess nach SIGTERM, SIGINT oder SIGHUP noch Anfragen bedient, während /ready schon 503 antwortet, damit ein Load Balancer vorher aufhört, welche zu schicken; 0 bis 598. Zusammen mit shutdown_grace_secs muss es kleiner als service.shutdown_deadline_secs sein.",
  "hub.host":
    "Adresse, auf der der gRPC-HubService (SubmitMessage und andere) lauscht: eine IP-Adresse oder ein Hostname.",
  "hub.port":
    "TCP-Port der gRPC-Schnittstelle, -1 bis 65535; 0 schaltet sie ab, -1 nimmt einen beliebigen freien Port, der im Log steht.",
  "hub.http_port":
    "Weiterer TCP-Port für die HTTP-Schnittstelle des Hubs (/v1), auf hub.host, 0 bis 65535; 0 öffnet keinen. Die Pfade gibt es in jedem Fall auch auf http.port. Üblich ist 3381.",
  "hub.reads":
    "Ob Leser eines Hubs bedient werden: die Lesezugriffe des HubService (GetCast, GetCastsByFid und andere) und /v1; und ob ein Log der Hub-Ereignisse geschrieben wird. Einreichen und GetInfo über gRPC brauchen das nicht.",
  "hub.relay_blocks":
    "Ob ein Knoten, der jeder fid folgt, die Blöcke des Quellknotens weitergibt (GetBlocks, GetShardChunks), acht Aufrufe gleichzeitig. Knoten, die diesem folgen, lesen daraus Schlüssel und verliehenen Speicher.",
  "hub.replication":
    'Ob andere Knoten ihren Index aus diesem füllen können (ReplicationService): aus seinem Stand nach einem Block, den Validatoren des Netzes signiert haben. Dazu gehören trust.level = "roots" und trust.roots = "full", weitergegebene Blöcke (relay_blocks) und ein Knoten, der jeder fid folgt. Während jemand einen Stand liest, höchstens eine halbe Stunde, wächst das Log des Index (index.db-wal) auf bis zu 1 GiB.',
  "hub.event_retention_hours":
    "Stunden, die das Log der Hub-Ereignisse ein Ereignis behält, 1 bis 720. Eine Million Ereignisse brauchen etwa 0,3 GB.",
  "hub.max_subscribers": "Gleichzeitige Streams von Hub-Ereignissen (Subscribe), 1 bis 10000.",
  "hub.max_subscribers_per_ip":
    "Streams von Hub-Ereignissen je Client-Adresse, 1 bis 10000. Die Adressen eines IPv6-/64 zählen zusammen.",
  "hub.admin":
    "Ob der AdminService (SubmitOnChainEvent, SubmitUserNameProof) auf demselben Port angeboten wird. Seine Clients können jedes On-Chain-Ereignis hinzufügen, deshalb ist er nur erlaubt, solange hub.host eine Loopback-Adresse ist.",
  "index.max_bytes":
    "Bytes, die der Index belegen darf, 0 bis 1000000000000000: die genutzten Seiten seiner Datei, zu der auch die Logs der Ereignisse gehören, und sein Write-Ahead-Log. 0 setzt keine Grenze. An der Grenze schrumpfen die Logs der Ereignisse auf eine Stunde; danach wird nichts mehr übernommen: Das Folgen wartet, Einreichungen und Schreibzugriffe werden abgelehnt, und /ready antwortet mit 503; Lesezugriffe, Zustand, Webhooks und Benachrichtigungen laufen weiter. `svc index compact` verkleinert einen Index.",
  "index.full_text":
    "Ob die Wörter von Casts für /cast/search indexiert werden, was etwa ein Zehntel des Index braucht. Mit false antwortet dieser Pfad mit 501, und `svc index compact` entfernt, was indexiert ist. Nach einem erneuten true baut der nächste Start es auf, bevor er bedient.",
};

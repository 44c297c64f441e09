CREATE TABLE "node_figures" (
	"node_id" text COLLATE "C" NOT NULL,
	"step" bigint NOT NULL,
	"t" bigint NOT NULL,
	"body" "bytea" NOT NULL,
	CONSTRAINT "node_figures_node_id_step_t_pk" PRIMARY KEY("node_id","step","t")
);
--> statement-breakpoint
CREATE INDEX "node_figures_by_time" ON "node_figures" USING btree ("step","t");

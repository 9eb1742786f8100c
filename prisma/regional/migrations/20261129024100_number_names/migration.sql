-- Numbers of countries in which people write them in several ways: how the network names what was typed.
CREATE TABLE "number_names" (
    "channel_id" TEXT NOT NULL,
    "typed" TEXT NOT NULL,
    "network" TEXT NOT NULL,

    CONSTRAINT "number_names_pkey" PRIMARY KEY ("channel_id","typed")
);

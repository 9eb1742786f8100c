-- Most contacts have no LID. An index of all of them was taken for looking up a contact by its id while the statistics did
-- not know the channel, and then read through the channel's contacts.
DROP INDEX "contacts_channel_id_lid_idx";
CREATE INDEX "contacts_by_lid_idx" ON "contacts" ("channel_id", "lid") WHERE "lid" IS NOT NULL;

import { Button, Group, NativeSelect, NumberInput, Table, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useAction, useRead } from '../api/api.js';
import { Disclosure } from '../channels/disclosure.js';
import { Part } from '../channels/part.js';
import { FailureNote, fieldFault } from '../frame/failure-note.js';

/** Rows of the table: a region has up to some thousand shards. */
const MOST_SHOWN = 256;

/** The shards of a region, and moving one to a worker. */
export function ShardsPart({ region }: { region: string }) {
  const { t } = useTranslation('operators');
  const { data, error } = useRead('listFleetShards', { path: { region } }, { everyMs: 2_000 });
  const shards = data?.shards ?? [];
  return (
    <Part title={t('shards.title')} about={t('shards.about')}>
      <FailureNote error={error} />
      {data && (
        <Text size="sm" role="status">
          {t('shards.summary', {
            n: shards.length,
            moving: shards.filter(({ state }) => state === 'moving').length,
            waiting: shards.filter(({ state }) => state === 'waiting').length,
          })}
        </Text>
      )}
      <MoveShard region={region} />
      <Disclosure label={t('shards.all')}>
        <Table.ScrollContainer minWidth={0}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{t('shards.number')}</Table.Th>
                <Table.Th>{t('shards.owner')}</Table.Th>
                <Table.Th>{t('shards.stateLabel')}</Table.Th>
                <Table.Th>{t('shards.open')}</Table.Th>
                <Table.Th>{t('shards.waitingCommands')}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {shards.slice(0, MOST_SHOWN).map(({ shard, owner, state, sessions, commands }) => (
                <Table.Tr key={shard}>
                  <Table.Td>{shard}</Table.Td>
                  <Table.Td>{owner ?? '–'}</Table.Td>
                  <Table.Td>{t(`shards.state.${state}`)}</Table.Td>
                  <Table.Td>{sessions.open}</Table.Td>
                  <Table.Td>{commands?.waiting ?? '–'}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      </Disclosure>
    </Part>
  );
}

function MoveShard({ region }: { region: string }) {
  const { t } = useTranslation('operators');
  const workers = useRead('listFleetWorkers', { path: { region } }).data?.workers ?? [];
  const [shard, setShard] = useState<number | string>(0);
  const [chosen, setChosen] = useState<string>();
  const place = useAction('placeFleetShard', { changes: ['listFleetShards', 'listFleetWorkers'] });
  const takers = workers.filter(({ living, state }) => living && state === 'taking').map(({ id }) => id);
  const worker = chosen ?? takers[0];
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (worker !== undefined) place.mutate({ path: { region, shard: String(shard) }, body: { worker } });
      }}
    >
      <Group align="flex-end">
        <NumberInput
          label={t('shards.number')}
          min={0}
          value={shard}
          onChange={setShard}
          w={120}
          allowDecimal={false}
        />
        <NativeSelect
          label={t('shards.to')}
          data={takers}
          value={worker ?? ''}
          error={fieldFault(place.error, 'worker')}
          onChange={({ currentTarget: { value } }) => setChosen(value)}
        />
        <Button type="submit" variant="default" loading={place.isPending} disabled={worker === undefined}>
          {t('shards.move')}
        </Button>
      </Group>
      <FailureNote error={place.error} fields={['worker']} />
    </form>
  );
}

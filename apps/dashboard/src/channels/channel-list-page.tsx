import { Table, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useRead } from '../api/api.js';
import { FailureNote } from '../frame/failure-note.js';
import { Loading, Page } from '../frame/page.js';

export function ChannelListPage() {
  const { t } = useTranslation();
  const channels = useRead('listChannels', { query: { count: 100 } });
  if (channels.isPending) return <Loading />;
  return (
    <Page title={t('areas.channels')}>
      <FailureNote error={channels.error} />
      <Table>
        <Table.Tbody>
          {channels.data?.channels.map(({ id, name, region }) => (
            <Table.Tr key={id}>
              <Table.Td>
                <Text fw={500}>{name}</Text>
                <Text size="sm" c="dimmed">
                  {id}
                </Text>
              </Table.Td>
              <Table.Td>{region}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Page>
  );
}

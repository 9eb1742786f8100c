import { SimpleGrid, Text, Title } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useRead } from '../api/api.js';
import { FailureNote } from '../frame/failure-note.js';
import { LinkPaper } from '../frame/links.js';
import { Loading } from '../frame/page.js';
import { OperatorPage } from './operator-page.js';

/** Every region of the installation. */
export function FleetPage() {
  const { t } = useTranslation('operators');
  return (
    <OperatorPage title={t('fleet.title')} about={t('fleet.about')}>
      <Regions />
    </OperatorPage>
  );
}

function Regions() {
  const { t } = useTranslation('operators');
  const { t: ofChannels } = useTranslation('channels');
  const { data, error } = useRead('getFleet', {}, { everyMs: 5_000 });
  return (
    <>
      <FailureNote error={error} />
      {!data && !error && <Loading />}
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        {data?.regions.map((each) => (
          <LinkPaper
            key={each.region}
            withBorder
            p="md"
            display="block"
            to="/operators/regions/$region"
            params={{ region: each.region }}
          >
            <Title order={2} size="h3">
              {ofChannels(`region.${each.region}`)}
            </Title>
            {each.available ? (
              <>
                <Text size="sm">{t('fleet.workers', { living: each.workers.living, n: each.shards.total })}</Text>
                <Text size="sm">{t('fleet.sessions', { open: each.sessions.open, asleep: each.sleeping.count })}</Text>
                <Text size="sm">{t('fleet.backlog', { n: each.events.backlog })}</Text>
                {each.shards.without_owner > 0 && (
                  <Text size="sm" fw={600}>
                    {t('fleet.withoutOwner', { n: each.shards.without_owner })}
                  </Text>
                )}
              </>
            ) : (
              <Text size="sm" fw={600}>
                {t('fleet.away')}
              </Text>
            )}
          </LinkPaper>
        ))}
      </SimpleGrid>
    </>
  );
}

import { Checkbox, Group, Switch } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Part } from '../part.js';
import type { SettingProps } from './setting-props.js';
import type { Settings } from './subscription.js';

type MediaKind = Settings['media']['auto_download'][number];
const KINDS = ['image', 'audio', 'voice', 'video', 'document', 'sticker'] as const satisfies readonly MediaKind[];

/** Which files are fetched as they arrive. Kinds that are not known here stay. */
export function MediaSettings({ settings: { media }, change }: SettingProps) {
  const { t } = useTranslation('channelSettings');
  return (
    <Part title={t('media.title')}>
      <Checkbox.Group
        label={t('media.download')}
        description={t('media.downloadHelp')}
        value={[...media.auto_download]}
        onChange={(kinds) => change('media', { ...media, auto_download: kinds })}
      >
        <Group gap="md" mt="xs">
          {KINDS.map((kind) => (
            <Checkbox key={kind} value={kind} label={t(`media.kinds.${kind}`)} />
          ))}
        </Group>
      </Checkbox.Group>
      <Switch
        label={t('media.avatars')}
        description={t('media.avatarsHelp')}
        checked={media.init_avatars}
        onChange={({ currentTarget: { checked } }) => change('media', { ...media, init_avatars: checked })}
      />
    </Part>
  );
}

"""A recording as one Parquet file, a matrix a signal, so that it can be kept, sent, replayed, and queried with SQL as it is.

One row is one curve: a series, one bucket of a distribution, or its sums. Its numbers lie in one list. Columns:

=========  ==============  ===========================================================================================
signal     string          name in the vocabulary; empty where a row holds times
scope      string          what the subject is (replica, gpu, node …)
subject    string          the subject's id
part       string          ``value`` of a plain series; ``bucket`` and ``sum`` of a distribution (per second); ``times``
bound      double, null    of a bucket its upper bound, +inf for the last
moments    int32           which row of times belongs to it: the first rows of the file are the times, Unix seconds
origin     int32, null     where it comes from: a place in the document's list of origins
born       double          see :class:`Origin`
fell       double          see :class:`Origin`
series     int32           see :class:`Origin`
selectors  list of string  PromQL selectors of the very series; of a distribution only its first row has them
values     list of double  base units, finite as in every recording; an element is null only where a source gives no sum
=========  ==============  ===========================================================================================

Rows of one signal and source that were read at the same moments follow each other: they are the rows of one matrix, and come
back as one :class:`Panel`. Numbers are read when they are asked for, a row group at once; of a small file all at once.
In DuckDB ``list_avg(values)`` is a curve's mean, and ``unnest(values)`` beside the ``unnest`` of its times gives a row a sample.

Everything that is not a number over time (origins, events, facts, links, objectives, window, sources …) is one JSON document in
the file's own metadata under the key ``triage.recording``. The reader holds rows against each other and against it, and the
pages against the footer, so a file that something else has sorted or cut, or that unpacks to more than it says, is refused.
"""

from triage.ingest.files.parquet.form import METADATA_KEY, SCHEMA
from triage.ingest.files.parquet.reading import read_recording
from triage.ingest.files.parquet.writing import write_recording

__all__ = ["METADATA_KEY", "SCHEMA", "read_recording", "write_recording"]

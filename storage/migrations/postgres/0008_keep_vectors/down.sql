DROP TABLE call_vectors;
DROP TABLE article_vectors;
